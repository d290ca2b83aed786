package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
)

// About describes a server beyond the facts that are true of every Go process: names with their versions.
type About struct {
	Framework string `json:"framework,omitempty"`
	Server    string `json:"server"`
	// JSON is the library that reads and writes JSON, JSONVersion its version.
	JSON        string `json:"json"`
	JSONVersion string `json:"jsonVersion"`
	// Drivers are its database clients.
	Drivers []string `json:"-"`
}

// Server is a framework's application that can be served; http.Server is one.
type Server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
}

// Run listens, prints the attestation and serves until SIGTERM or SIGINT. Go itself requests the longest accept
// queue that the kernel allows, and sends answers without Nagle's delay. An http.Server keeps idle connections for
// KeepAlive; servers of another kind must set that themselves.
func Run(settings Settings, server Server, about About) error {
	runtime.GOMAXPROCS(settings.Workers)
	if web, ok := server.(*http.Server); ok {
		web.IdleTimeout = KeepAlive
	}
	listener, err := net.Listen("tcp", settings.Address)
	if err != nil {
		return err
	}
	stopping, restore := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer restore()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if err := attest(about); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-stopping.Done():
		graceful, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		// Requests still in progress then end with the process.
		_ = server.Shutdown(graceful)
		return nil
	}
}

// attest prints the line of this process, which represents as many workers as it has threads.
func attest(about About) error {
	clients := append([]string{"net/http " + GoVersion()}, about.Drivers...)
	line, err := json.Marshal(struct {
		Pid            int    `json:"pid"`
		Implementation string `json:"implementation"`
		Version        string `json:"version"`
		Workers        int    `json:"workers"`
		Client         string `json:"client"`
		About
	}{os.Getpid(), "go", GoVersion(), runtime.GOMAXPROCS(0), strings.Join(clients, " + "), about})
	if err == nil {
		_, err = fmt.Printf("bench-attest %s\n", line)
	}
	return err
}

// GoVersion is the version of Go, and so of its standard library, that built this program.
func GoVersion() string {
	return strings.TrimPrefix(runtime.Version(), "go")
}

// ModuleVersion is the version of a module in this program, or the folder or module that replaces it; empty if it is not part
// of it.
func ModuleVersion(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			if other := module.Replace; other != nil {
				return strings.TrimSpace(other.Path + " " + other.Version)
			}
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}
