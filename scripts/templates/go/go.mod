module bench/example

go 1.25.0

require bench/gocontract v0.0.0

replace bench/gocontract => ../gocontract
