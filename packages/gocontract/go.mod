module bench/gocontract

go 1.25.0
