module example.com/devices

go 1.22
