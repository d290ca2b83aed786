package main

import (
	stdjson "encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	contract "bench/gocontract"
)

const fixture = `[{"b":1,"a":"<é&\u2028>","nested":{"z":[1.5,-2,1e3,true,null],"y":""}},{}]`

func TestCodecsReadAndWriteTheSame(t *testing.T) {
	var want []contract.Row
	if err := stdjson.Unmarshal([]byte(fixture), &want); err != nil {
		t.Fatal(err)
	}
	text, _ := stdjson.Marshal(want)
	for _, name := range codecNames {
		t.Run(name, func(t *testing.T) {
			json, err := findCodec(name)
			if err != nil {
				t.Fatal(err)
			}
			var rows []contract.Row
			if err := json.unmarshal([]byte(fixture), &rows); err != nil || !reflect.DeepEqual(rows, want) {
				t.Errorf("read %v, %v; wanted %v", rows, err, want)
			}
			if written, err := json.marshal(want); err != nil || string(written) != string(text) {
				t.Errorf("wrote %s, %v; wanted %s", written, err, text)
			}
			var none, empty []contract.Row
			if json.unmarshal([]byte("null"), &none) != nil || json.unmarshal([]byte("[]"), &empty) != nil {
				t.Error("does not read null and []")
			}
			if none != nil || empty == nil {
				t.Errorf("takes null for %v, and [] for %v", none, empty)
			}
			for _, wrong := range []string{"", "[", `{"a":1}`, "[1]", "[] []"} {
				if json.unmarshal([]byte(wrong), &rows) == nil {
					t.Errorf("takes %q for rows", wrong)
				}
			}
		})
	}
}

func TestAppAnswersWithItsCodec(t *testing.T) {
	devices, err := contract.LoadDevices()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := stdjson.Marshal(devices)
	for _, name := range codecNames {
		json, _ := findCodec(name)
		app := newApp(json, devices, nil)
		for path, wanted := range map[string]struct {
			status int
			body   string
		}{
			"/api/devices": {http.StatusOK, string(want)},
			"/data":        {http.StatusServiceUnavailable, `{"error":"BENCH_UPSTREAM is not set"}`},
		} {
			response, err := app.Test(httptest.NewRequest(http.MethodGet, path, nil))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != wanted.status || string(body) != wanted.body {
				t.Errorf("%s with %s: %d %s", path, name, response.StatusCode, body)
			}
		}
	}
}
