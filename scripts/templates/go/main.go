// Command example serves the workloads with net/http.
package main

import (
	"encoding/json"
	"log"
	"net/http"

	contract "bench/gocontract"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	settings, err := contract.ReadSettings()
	if err != nil {
		return err
	}
	devices, err := contract.LoadDevices()
	if err != nil {
		return err
	}
	app := http.NewServeMux()
	app.HandleFunc("GET /api/devices", func(w http.ResponseWriter, _ *http.Request) {
		body, err := json.Marshal(devices)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	return contract.Run(settings, &http.Server{Handler: app}, contract.About{
		// With a framework: Framework: "gin " + contract.ModuleVersion("github.com/gin-gonic/gin").
		Server:      "net/http " + contract.GoVersion(),
		JSON:        "encoding/json",
		JSONVersion: contract.GoVersion(),
	})
}
