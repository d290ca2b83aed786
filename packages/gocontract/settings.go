// Package contract holds the code that the Go stacks share: settings, golden data, the upstream of gather,
// attestation.
package contract

import (
	"flag"
	"fmt"
	"net"
	"strconv"
	"time"
)

// KeepAlive is how long an idle connection stays open. No load pauses longer.
const KeepAlive = 75 * time.Second

// stopWithin is how long a stopping server waits for requests in progress.
const stopWithin = 2 * time.Second

// Settings are the address to listen on and the number of threads that run Go code: Go serves with one process.
type Settings struct {
	Address string
	Workers int
}

// ReadSettings parses the command line. A stack declares its own flags before the call.
func ReadSettings() (Settings, error) {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Uint("port", 8080, "port to listen on")
	workers := flag.Int("workers", 1, "threads that run Go code at once (GOMAXPROCS)")
	flag.Parse()
	if *workers < 1 || flag.NArg() > 0 {
		return Settings{}, fmt.Errorf("workers: %d, other arguments: %q; wanted: 1 or more, and none", *workers, flag.Args())
	}
	return Settings{net.JoinHostPort(*host, strconv.FormatUint(uint64(*port), 10)), *workers}, nil
}
