// An order service on chi.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/go-chi/chi/v5"
)

type order struct {
	ID       int    `json:"id"`
	Customer string `json:"customer"`
	Cents    int    `json:"cents"`
}

func listOrders() []order {
	orders := make([]order, 200)
	for i := range orders {
		orders[i] = order{ID: i + 1, Customer: fmt.Sprintf("customer %d", i+1), Cents: 100 * (i + 1)}
	}
	return orders
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("content-type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Print(err)
	}
}

func main() {
	orders := listOrders()
	router := chi.NewRouter()
	router.Get("/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"status": "ok"})
	})
	router.Get("/orders", func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "20"))
		if err != nil || limit < 1 {
			http.Error(w, "limit is not a number above 0", http.StatusBadRequest)
			return
		}
		answer(w, orders[:min(limit, len(orders))])
	})
	router.Get("/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(chi.URLParam(r, "id"))
		if err != nil || id < 1 || id > len(orders) {
			http.NotFound(w, r)
			return
		}
		answer(w, orders[id-1])
	})
	address := cmp.Or(os.Getenv("HOST"), "127.0.0.1") + ":" + cmp.Or(os.Getenv("PORT"), "8080")
	log.Fatal(http.ListenAndServe(address, router))
}
