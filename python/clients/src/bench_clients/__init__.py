"""Python clients as load engines: generator processes that speak the harness's protocol."""
