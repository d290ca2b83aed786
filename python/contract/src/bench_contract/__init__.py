"""What every Python stack shares: settings, golden data, and what a worker says of itself."""
