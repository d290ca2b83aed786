// A service with a function that burns PLANTED_US of CPU per request.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"time"
)

var (
	steps = 2_000_000
	sink  int
)

//go:noinline
func planted() {
	total := 0
	for step := 0; step < steps; step++ {
		total = total*31 + step
	}
	sink = total
}

// calibrate finds out how many steps take that long.
func calibrate(microseconds float64) {
	planted()
	start := time.Now()
	planted()
	steps = int(float64(steps) * microseconds * 1000 / float64(time.Since(start).Nanoseconds()))
}

func hello(response http.ResponseWriter, request *http.Request) {
	if steps > 0 {
		planted()
	}
	response.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(response).Encode(map[string]string{"message": "hello", "path": request.URL.Path})
}

func main() {
	microseconds, err := strconv.ParseFloat(os.Getenv("PLANTED_US"), 64)
	if err != nil {
		panic(err)
	}
	calibrate(microseconds)
	http.HandleFunc("/", hello)
	panic(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}
