module planted

go 1.23
