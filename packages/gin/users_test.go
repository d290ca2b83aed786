package main

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// ask sends one request to the routes of a table.
func ask(table *users, method, body string) *httptest.ResponseRecorder {
	gin.SetMode(gin.ReleaseMode)
	app := gin.New()
	table.route(app)
	answer := httptest.NewRecorder()
	app.ServeHTTP(answer, httptest.NewRequest(method, "/users", strings.NewReader(body)))
	return answer
}

// open gives the table of a database that nobody can reach, with such a pool.
func open(t *testing.T, size, overflow, timeout string) *users {
	t.Helper()
	t.Setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
	t.Setenv("BENCH_POOL_SIZE", size)
	t.Setenv("BENCH_POOL_OVERFLOW", overflow)
	t.Setenv("BENCH_POOL_TIMEOUT", timeout)
	table, err := openUsers()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.pool.Close)
	return table
}

func TestThePoolIsAsLargeAsItsSizeAndItsOverflow(t *testing.T) {
	usual := open(t, "", "", "")
	if most := usual.pool.Config().MaxConns; most != 15 || usual.acquireWithin != 30*time.Second {
		t.Errorf("%d connections, waited for %s", most, usual.acquireWithin)
	}
	told := open(t, "2", "0", "7")
	if most := told.pool.Config().MaxConns; most != 2 || told.acquireWithin != 7*time.Second {
		t.Errorf("%d connections, waited for %s", most, told.acquireWithin)
	}
	t.Setenv("BENCH_POOL_SIZE", "many")
	if _, err := openUsers(); err == nil || !strings.Contains(err.Error(), "BENCH_POOL_SIZE") {
		t.Errorf("a pool of many: %v", err)
	}
}

func TestWithoutADatabaseItSaysSo(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	table, err := openUsers()
	if err != nil || table.drivers() != nil {
		t.Fatal(table, err)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		answer := ask(table, method, "")
		if body := answer.Body.String(); answer.Code != 503 || body != `{"error":"DATABASE_URL is not set"}` {
			t.Errorf("%s: %d %s", method, answer.Code, body)
		}
	}
}

func TestAFailureIsAnsweredAndLoggedInTheDriversWords(t *testing.T) {
	var logged bytes.Buffer
	usual := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(usual) })
	table := open(t, "", "", "")
	for method, body := range map[string]string{
		http.MethodGet:  "",
		http.MethodPost: `{"name": "a", "email": "b"}`,
	} {
		logged.Reset()
		answer := ask(table, method, body)
		if answer.Code != 500 || !strings.Contains(logged.String(), "connection refused") {
			t.Errorf("%s: %d, logged %q", method, answer.Code, logged.String())
		}
	}
}

func TestABodyThatDoesNotFitIsRefused(t *testing.T) {
	table := open(t, "", "", "")
	for _, body := range []string{"", "{", `{"name": "a"}`, `{"name": 1, "email": "b"}`} {
		if answer := ask(table, http.MethodPost, body); answer.Code != 400 {
			t.Errorf("%s: %d", body, answer.Code)
		}
	}
}
