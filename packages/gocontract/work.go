package contract

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Fib is the answer to GET /fib/{n}: one Fibonacci number.
type Fib struct {
	Fib int `json:"fib"`
}

// Wait is the answer to GET /wait: the duration of the wait, in seconds.
type Wait struct {
	Duration float64 `json:"duration"`
}

// ComputeFib returns fib(n) with fib(0) = fib(1) = 1, and sets the headers with its duration.
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

// Waiting is the duration of GET /wait: BENCH_WAIT_MS, or 50 ms if that is not set.
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

// Sleep waits for the given time, and sets the headers with its duration.
func Sleep(duration time.Duration, headers http.Header) Wait {
	start := time.Now()
	time.Sleep(duration)
	tellTiming(headers, "wait", time.Since(start))
	return Wait{duration.Seconds()}
}

// tellTiming sets the duration of the work: X-Process-Time in seconds, Server-Timing in ms.
func tellTiming(headers http.Header, name string, took time.Duration) {
	headers.Set("X-Process-Time", fmt.Sprintf("%.6f", took.Seconds()))
	headers.Set("Server-Timing", fmt.Sprintf("%s;dur=%.3f", name, took.Seconds()*1000))
}
