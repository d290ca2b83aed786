package contract

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Fib is what GET /fib/{n} answers: one number of the sequence.
type Fib struct {
	Fib int `json:"fib"`
}

// Wait is what GET /wait answers: how long was waited, in seconds.
type Wait struct {
	Duration float64 `json:"duration"`
}

// ComputeFib gives the number at n, where those at 0 and 1 are 1, and tells the headers how long that took.
func ComputeFib(n int, headers http.Header) Fib {
	start := time.Now()
	number := fib(n)
	tellTiming(headers, "fib", time.Since(start))
	return Fib{number}
}

func fib(n int) int {
	if n < 2 {
		return 1
	}
	return fib(n-1) + fib(n-2)
}

// Waiting is how long GET /wait takes: as BENCH_WAIT_MS says, 50 ms where it is not set.
func Waiting() (time.Duration, error) {
	text := os.Getenv("BENCH_WAIT_MS")
	if text == "" {
		return 50 * time.Millisecond, nil
	}
	milliseconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("BENCH_WAIT_MS: %w", err)
	}
	return time.Duration(milliseconds) * time.Millisecond, nil
}

// Sleep waits for so long, and tells the headers how long that took.
func Sleep(duration time.Duration, headers http.Header) Wait {
	start := time.Now()
	time.Sleep(duration)
	tellTiming(headers, "wait", time.Since(start))
	return Wait{duration.Seconds()}
}

// tellTiming says how long work took: X-Process-Time in seconds, Server-Timing in ms.
func tellTiming(headers http.Header, name string, took time.Duration) {
	headers.Set("X-Process-Time", fmt.Sprintf("%.6f", took.Seconds()))
	headers.Set("Server-Timing", fmt.Sprintf("%s;dur=%.3f", name, took.Seconds()*1000))
}
