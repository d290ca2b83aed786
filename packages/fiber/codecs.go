package main

import (
	stdjson "encoding/json"
	"fmt"

	contract "bench/gocontract"

	"github.com/bytedance/sonic"
	gojson "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
)

// codec is a JSON library, set to write what encoding/json would write.
type codec struct {
	name, version string
	marshal       func(any) ([]byte, error)
	unmarshal     func([]byte, any) error
}

var codecNames = []string{"encoding-json", "go-json", "jsoniter", "sonic"}

func findCodec(name string) (codec, error) {
	switch name {
	case "encoding-json":
		return codec{"encoding/json", contract.GoVersion(), stdjson.Marshal, stdjson.Unmarshal}, nil
	case "go-json":
		version := contract.ModuleVersion("github.com/goccy/go-json")
		return codec{name, version, gojson.Marshal, gojson.Unmarshal}, nil
	case "jsoniter":
		like := jsoniter.ConfigCompatibleWithStandardLibrary
		return codec{name, contract.ModuleVersion("github.com/json-iterator/go"), like.Marshal, like.Unmarshal}, nil
	case "sonic":
		// On a Go version or a processor that it does not support, sonic falls back to encoding/json.
		if sonic.APIKind == sonic.UseStdJSON {
			name = "encoding/json"
		}
		version := contract.ModuleVersion("github.com/bytedance/sonic")
		return codec{name, version, sonic.ConfigStd.Marshal, sonic.ConfigStd.Unmarshal}, nil
	}
	return codec{}, fmt.Errorf("json: %q; there are %q", name, codecNames)
}
