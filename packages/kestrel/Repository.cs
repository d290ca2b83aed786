/// <summary>Saves nothing: each call is logged, and waits for BENCH_REPOSITORY_MS.</summary>
sealed class Repository(ILogger<Repository> log)
{
    private readonly int milliseconds =
        int.Parse(Environment.GetEnvironmentVariable("BENCH_REPOSITORY_MS") ?? "2000");

    public Task SaveCustomer(string id, string name, string email)
    {
        log.LogInformation("customer {Id}: {Name}, {Email}", id, name, email);
        return Task.Delay(milliseconds);
    }

    public Task SaveProduct(string id, string title, int cents)
    {
        log.LogInformation("product {Id}: {Title}, {Cents}", id, title, cents);
        return Task.Delay(milliseconds);
    }

    public Task SaveOrder(string id, int customer, int product, int quantity)
    {
        log.LogInformation("order {Id}: {Quantity} of {Product} for {Customer}", id, quantity, product, customer);
        return Task.Delay(milliseconds);
    }
}
