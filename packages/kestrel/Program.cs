using System.Diagnostics;
using System.Net;
using System.Reflection;
using System.Text.Json;

// Connections that may wait to be accepted: more than the highest rung. The kernel may allow fewer.
const int Backlog = 16_384;

var builder = WebApplication.CreateBuilder(args);
var host = IPAddress.Parse(builder.Configuration["host"] ?? "127.0.0.1");
var port = builder.Configuration.GetValue("port", 8080);
var workers = builder.Configuration.GetValue("workers", 1);

// Requests are not logged; calls of the repository are.
builder.Logging.ClearProviders();
builder.Logging.AddSimpleConsole(console => console.SingleLine = true);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.Logging.AddFilter(nameof(Repository), LogLevel.Information);

builder.WebHost.UseSockets(sockets =>
{
    sockets.Backlog = Backlog;
    sockets.IOQueueCount = workers;
});
builder.WebHost.ConfigureKestrel(kestrel =>
{
    kestrel.Listen(host, port);
    // Longer than any pause that a load makes.
    kestrel.Limits.KeepAliveTimeout = TimeSpan.FromSeconds(75);
});
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromSeconds(2));
builder.Services.ConfigureHttpJsonOptions(json =>
{
    json.SerializerOptions.PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower;
    // A body that lacks a field, or has null for it, is a bad request.
    json.SerializerOptions.RespectRequiredConstructorParameters = true;
    json.SerializerOptions.RespectNullableAnnotations = true;
});
builder.Services.AddSingleton<Repository>();

var devices = Device.Load();
var app = builder.Build();

app.MapGet("/api/devices", () => devices);

app.MapGet("/fib/{n:int:range(0,45)}", (int n, HttpResponse response) =>
{
    var started = Stopwatch.GetTimestamp();
    var number = Fibonacci(n);
    var took = Stopwatch.GetElapsedTime(started);
    response.Headers["X-Process-Time"] = took.TotalSeconds.ToString("F6");
    response.Headers["Server-Timing"] = $"fib;dur={took.TotalMilliseconds:F3}";
    return new FibAnswer(number);
});

app.MapPost("/customers", (Customer body, Repository repository) =>
    Execute("customer", body, one => repository.SaveCustomer(one.Id, one.Name, one.Email)));
app.MapPost("/products", (Product body, Repository repository) =>
    Execute("product", body, one => repository.SaveProduct(one.Id, one.Title, one.Cents)));
app.MapPost("/orders", (Order body, Repository repository) =>
    Execute("order", body, one => repository.SaveOrder(one.Id, one.Customer, one.Product, one.Quantity)));

app.Lifetime.ApplicationStarted.Register(() => Console.WriteLine($"bench-attest {Attest()}"));
app.Run();

// The method that the three endpoints share: runs the callback on a body, and answers with it.
static async Task<SavedAnswer<T>> Execute<T>(string saved, T body, Func<T, Task> callback)
{
    await callback(body);
    return new SavedAnswer<T>(saved, body);
}

// Naive recursion, because the workload measures its CPU time.
static long Fibonacci(int n) => n < 2 ? 1 : Fibonacci(n - 1) + Fibonacci(n - 2);

// One line; the process counts as the requested number of workers.
string Attest() => JsonSerializer.Serialize(new Dictionary<string, object>
{
    ["pid"] = Environment.ProcessId,
    ["implementation"] = "dotnet",
    ["version"] = Environment.Version.ToString(),
    ["workers"] = workers,
    ["framework"] = $"aspnetcore {VersionOf(typeof(WebApplication))}",
    ["server"] = $"kestrel {VersionOf(typeof(Microsoft.AspNetCore.Server.Kestrel.Core.KestrelServerOptions))}",
    ["serverGc"] = System.Runtime.GCSettings.IsServerGC,
});

// The version of the assembly that a type is in, without the commit behind its plus sign.
static string VersionOf(Type type) =>
    type.Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "";

record FibAnswer(long Fib);

record Customer(string Id, string Name, string Email);

record Product(string Id, string Title, int Cents);

record Order(string Id, int Customer, int Product, int Quantity);

record SavedAnswer<T>(string Saved, T Data);
