using System.Text.Json;

/// <summary>One row of the golden list. The times are returned as received.</summary>
sealed record Device(int Id, string Uuid, string Mac, string Firmware, string CreatedAt, string UpdatedAt)
{
    /// <summary>The rows of the file that BENCH_DEVICES names, and a small list when it is not set.</summary>
    public static Device[] Load()
    {
        var file = Environment.GetEnvironmentVariable("BENCH_DEVICES");
        if (string.IsNullOrEmpty(file)) return ByHand();
        var options = new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };
        return JsonSerializer.Deserialize<Device[]>(File.ReadAllText(file), options)
            ?? throw new InvalidDataException($"BENCH_DEVICES: {file}: no list of devices");
    }

    private static Device[] ByHand() =>
        [
            .. Enumerable.Range(1, 3).Select(id => new Device(
                id,
                $"00000000-0000-4000-8000-00000000000{id}",
                $"5E:00:00:00:00:0{id}",
                $"1.0.{id}",
                "2025-01-01T00:00:00.000Z",
                "2025-01-01T00:00:00.000Z")),
        ];
}
