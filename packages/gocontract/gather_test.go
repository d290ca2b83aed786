package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// open returns an upstream with the given number of fixtures, served by the handler.
func open(t *testing.T, fixtures int, handler http.HandlerFunc) (*Upstream, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	paths := make([]string, fixtures)
	for i := range paths {
		paths[i] = fmt.Sprintf("/fixtures/%d.json", i)
	}
	list, _ := json.Marshal(paths)
	file := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BENCH_UPSTREAM", server.URL)
	t.Setenv("BENCH_FIXTURES", file)
	upstream, err := OpenUpstream(json.Unmarshal)
	if err != nil {
		t.Fatal(err)
	}
	return upstream, server
}

func TestGatherMergesInOrderWhatItFetchesAtOnce(t *testing.T) {
	const fixtures = 5
	var started sync.WaitGroup
	started.Add(fixtures)
	upstream, _ := open(t, fixtures, func(w http.ResponseWriter, r *http.Request) {
		// No request is answered before all are in flight.
		started.Done()
		started.Wait()
		fmt.Fprintf(w, `[{"path": %q, "n": 1}, {"path": %q, "n": 2}]`, r.URL.Path, r.URL.Path)
	})
	answer := upstream.Answer(context.Background())
	rows, _ := answer.Body.([]Row)
	if answer.Status != http.StatusOK || len(rows) != 2*fixtures {
		t.Fatalf("got %d with %d rows: %v", answer.Status, len(rows), answer.Body)
	}
	for i, row := range rows {
		want := Row{"path": fmt.Sprintf("/fixtures/%d.json", i/2), "n": float64(i%2 + 1)}
		if row["path"] != want["path"] || row["n"] != want["n"] {
			t.Errorf("row %d is %v, wanted %v", i, row, want)
		}
	}
	if !regexp.MustCompile(`^gather;dur=\d+\.\d{3}$`).MatchString(answer.ServerTiming) {
		t.Errorf("Server-Timing: %s", answer.ServerTiming)
	}
}

func TestGatherKeepsItsConnections(t *testing.T) {
	clients := sync.Map{}
	upstream, _ := open(t, 1, func(w http.ResponseWriter, r *http.Request) {
		clients.Store(r.RemoteAddr, true)
		fmt.Fprint(w, "[]")
	})
	for range 10 {
		if answer := upstream.Answer(context.Background()); answer.Status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	count := 0
	clients.Range(func(_, _ any) bool { count++; return true })
	if count != 1 {
		t.Errorf("10 requests came over %d connections", count)
	}
}

func TestGatherOfNothingIsAnEmptyArray(t *testing.T) {
	upstream, _ := open(t, 0, http.NotFound)
	body, _ := json.Marshal(upstream.Answer(context.Background()).Body)
	if string(body) != "[]" {
		t.Errorf("got %s", body)
	}
}

func TestGatherFailsAsAWhole(t *testing.T) {
	for _, wrong := range []struct{ body, want string }{
		{"", "status 500"},
		{"[", "unexpected end"},
		{`{"a": 1}`, "cannot unmarshal"},
		{"[1]", "cannot unmarshal"},
		{"null", "no array"},
	} {
		upstream, _ := open(t, 3, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/fixtures/1.json":
				fmt.Fprint(w, "[]")
			case wrong.body == "":
				w.WriteHeader(http.StatusInternalServerError)
			default:
				fmt.Fprint(w, wrong.body)
			}
		})
		expectFailure(t, upstream.Answer(context.Background()), http.StatusBadGateway, wrong.want)
	}
}

func TestGatherFailsWithoutItsUpstream(t *testing.T) {
	upstream, server := open(t, 2, http.NotFound)
	server.Close()
	expectFailure(t, upstream.Answer(context.Background()), http.StatusBadGateway, "connection refused")
	expectFailure(t, (*Upstream)(nil).Answer(context.Background()), http.StatusServiceUnavailable, "BENCH_UPSTREAM is not set")
}

func expectFailure(t *testing.T, answer Answer, status int, words string) {
	t.Helper()
	row, _ := answer.Body.(Row)
	text, _ := row["error"].(string)
	isNamed := strings.HasPrefix(text, "upstream: ") || status != http.StatusBadGateway
	if answer.Status != status || answer.ServerTiming != "" || !isNamed || !strings.Contains(text, words) {
		t.Errorf("got %+v, wanted status %d and %q", answer, status, words)
	}
}
