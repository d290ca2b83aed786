package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	contract "bench/gocontract"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// newUser is the body of a request that adds a user.
type newUser struct {
	Name  string `json:"name" binding:"required"`
	Email string `json:"email" binding:"required"`
}

// user is a row of the table users.
type user struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// users is the table of that name, reached through a pool; nil if no database is configured.
type users struct {
	pool *pgxpool.Pool
	// acquireWithin is the longest wait of a request for a connection.
	acquireWithin time.Duration
}

// openUsers opens a pool on the database that DATABASE_URL names; it returns nil if that is not set. It connects only for the
// first request.
func openUsers() (*users, error) {
	url := os.Getenv("DATABASE_URL")
	if url == "" {
		return nil, nil
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	size, overflow, seconds := 5, 10, 30
	for name, into := range map[string]*int{
		"BENCH_POOL_SIZE":     &size,
		"BENCH_POOL_OVERFLOW": &overflow,
		"BENCH_POOL_TIMEOUT":  &seconds,
	} {
		if err := readNumber(name, into); err != nil {
			return nil, err
		}
	}
	// The pool has no separate limit for overflow.
	config.MaxConns = int32(size + overflow)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &users{pool, time.Duration(seconds) * time.Second}, nil
}

// readNumber reads a whole number from an environment variable; it leaves the value unchanged if that is not set.
func readNumber(name string, into *int) error {
	text := os.Getenv(name)
	if text == "" {
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*into = number
	return nil
}

// drivers returns the driver with its version; nil without a database.
func (table *users) drivers() []string {
	if table == nil {
		return nil
	}
	return []string{"pgx " + contract.ModuleVersion("github.com/jackc/pgx/v5")}
}

// route adds GET and POST /users.
func (table *users) route(app *gin.Engine) {
	if table == nil {
		unset := func(c *gin.Context) {
			c.JSON(http.StatusServiceUnavailable, gin.H{"error": "DATABASE_URL is not set"})
		}
		app.GET("/users", unset)
		app.POST("/users", unset)
		return
	}
	app.GET("/users", func(c *gin.Context) {
		rows, err := table.list(c.Request.Context())
		answer(c, http.StatusOK, rows, err)
	})
	app.POST("/users", func(c *gin.Context) {
		var sent newUser
		if err := c.ShouldBindJSON(&sent); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		stored, err := table.add(c.Request.Context(), sent)
		answer(c, http.StatusCreated, stored, err)
	})
}

// answer sends the result of the database, or its error, which also goes to the log.
func answer(c *gin.Context, status int, body any, err error) {
	if err != nil {
		log.Print(err)
		status, body = http.StatusInternalServerError, gin.H{"error": err.Error()}
	}
	c.JSON(status, body)
}

// list returns all rows in the order of their ids.
func (table *users) list(ctx context.Context) ([]user, error) {
	return table.query(ctx, "SELECT id, name, email FROM users ORDER BY id")
}

// add stores a user and returns the row.
func (table *users) add(ctx context.Context, sent newUser) (user, error) {
	stored, err := table.query(
		ctx, "INSERT INTO users (name, email) VALUES ($1, $2) RETURNING id, name, email", sent.Name, sent.Email,
	)
	if err != nil {
		return user{}, err
	}
	return stored[0], nil
}

func (table *users) query(ctx context.Context, sql string, arguments ...any) ([]user, error) {
	connection, err := table.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	// CollectRows returns an error of the query, too.
	rows, _ := connection.Query(ctx, sql, arguments...)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[user])
}

func (table *users) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, table.acquireWithin)
	defer cancel()
	connection, err := table.pool.Acquire(waiting)
	if err != nil {
		return nil, fmt.Errorf("no connection to the database: %w", err)
	}
	return connection, nil
}
