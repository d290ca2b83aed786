package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

type device struct {
	ID    int     `json:"id"`
	Name  string  `json:"name"`
	Level float64 `json:"level"`
}

var devices = make([]device, 50)

func listDevices(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(devices)
}

func main() {
	for n := range devices {
		devices[n] = device{n, "device", float64(n) / 7}
	}
	http.HandleFunc("GET /devices", listDevices)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
