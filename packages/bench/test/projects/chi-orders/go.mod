module example.com/chi-orders

go 1.24
