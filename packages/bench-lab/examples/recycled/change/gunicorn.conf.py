workers = 2
max_requests = 500
