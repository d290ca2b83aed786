package contract

import (
	"encoding/json"
	"fmt"
	"os"
)

// Device is one row of the golden list. The times are returned as received.
type Device struct {
	ID        int    `json:"id"`
	UUID      string `json:"uuid"`
	Mac       string `json:"mac"`
	Firmware  string `json:"firmware"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// LoadDevices returns the golden devices of the file that BENCH_DEVICES names, or a short list if it is not set.
func LoadDevices() ([]Device, error) {
	name := os.Getenv("BENCH_DEVICES")
	if name == "" {
		return byHand(), nil
	}
	var devices []Device
	if err := readJSON(name, &devices); err != nil {
		return nil, fmt.Errorf("BENCH_DEVICES: %w", err)
	}
	return devices, nil
}

func byHand() []Device {
	devices := make([]Device, 3)
	for i := range devices {
		id := i + 1
		devices[i] = Device{
			ID:        id,
			UUID:      fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", id),
			Mac:       fmt.Sprintf("5E:00:00:00:00:0%d", id),
			Firmware:  fmt.Sprintf("1.0.%d", id),
			CreatedAt: "2025-01-01T00:00:00.000Z",
			UpdatedAt: "2025-01-01T00:00:00.000Z",
		}
	}
	return devices
}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
