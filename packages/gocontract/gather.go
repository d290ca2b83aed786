package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	fetchTimeout = 10 * time.Second
	// connectionsPerFixture is the number of idle connections that the pool keeps per fixture: the highest rung of
	// gather.
	connectionsPerFixture = 100
)

// Row is one object of a fixture.
type Row = map[string]any

// Upstream is the external service that GET /data gathers from.
type Upstream struct {
	client    *http.Client
	urls      []string
	unmarshal func([]byte, any) error
}

// Answer is the answer to GET /data. ServerTiming is the value of that header, empty if nothing was gathered.
type Answer struct {
	Status       int
	ServerTiming string
	Body         any
}

// OpenUpstream opens the service that BENCH_UPSTREAM and BENCH_FIXTURES name; nil if the first is not set. It
// parses answers with unmarshal.
func OpenUpstream(unmarshal func([]byte, any) error) (*Upstream, error) {
	base := os.Getenv("BENCH_UPSTREAM")
	if base == "" {
		return nil, nil
	}
	var urls []string
	if err := readJSON(os.Getenv("BENCH_FIXTURES"), &urls); err != nil {
		return nil, fmt.Errorf("BENCH_FIXTURES: %w", err)
	}
	for i, path := range urls {
		urls[i] = base + path
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = len(urls) * connectionsPerFixture
	transport.MaxIdleConns = transport.MaxIdleConnsPerHost
	return &Upstream{&http.Client{Transport: transport, Timeout: fetchTimeout}, urls, unmarshal}, nil
}

// Answer gathers once. For a nil upstream it reports that there is none.
func (upstream *Upstream) Answer(ctx context.Context) Answer {
	if upstream == nil {
		return Answer{Status: http.StatusServiceUnavailable, Body: Row{"error": "BENCH_UPSTREAM is not set"}}
	}
	rows, took, err := upstream.gather(ctx)
	if err != nil {
		return Answer{Status: http.StatusBadGateway, Body: Row{"error": "upstream: " + err.Error()}}
	}
	milliseconds := float64(took) / float64(time.Millisecond)
	return Answer{http.StatusOK, fmt.Sprintf("gather;dur=%.3f", milliseconds), rows}
}

// gather fetches all fixtures at once. It returns their rows in the order of the list, and the time it took.
func (upstream *Upstream) gather(ctx context.Context) ([]Row, time.Duration, error) {
	start := time.Now()
	parts := make([][]Row, len(upstream.urls))
	failures := make([]error, len(upstream.urls))
	var fetches sync.WaitGroup
	for i, url := range upstream.urls {
		fetches.Go(func() { parts[i], failures[i] = upstream.fetch(ctx, url) })
	}
	fetches.Wait()
	rows := []Row{}
	for i, part := range parts {
		if failures[i] != nil {
			return nil, 0, failures[i]
		}
		rows = append(rows, part...)
	}
	return rows, time.Since(start), nil
}

func (upstream *Upstream) fetch(ctx context.Context, url string) ([]Row, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := upstream.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s", url, response.Status)
	}
	var rows []Row
	if err := upstream.unmarshal(body, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if rows == nil {
		return nil, fmt.Errorf("%s: %w", url, errNoArray)
	}
	return rows, nil
}

var errNoArray = errors.New("null is no array")
