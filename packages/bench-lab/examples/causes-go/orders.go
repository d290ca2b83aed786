package main

import (
	"regexp"

	"github.com/lib/pq"
)

type line struct {
	Order int
	Sku   string
	Count int
}

type order struct {
	ID    int
	Title string
	Lines []line
}

var known = regexp.MustCompile(`^sku-\d+$`)

func listOrders() ([]*order, error) {
	orders, err := readOrders()
	if err != nil {
		return nil, err
	}
	ids := []int{}
	for _, one := range orders {
		ids = append(ids, one.ID)
	}
	lines, err := readLines("select order_id, sku, count from lines where order_id = any($1)", pq.Array(ids))
	if err != nil {
		return nil, err
	}
	for _, one := range lines {
		if known.MatchString(one.Sku) {
			orders[one.Order-1].Lines = append(orders[one.Order-1].Lines, one)
		}
	}
	return orders, nil
}

func readOrders() ([]*order, error) {
	rows, err := db.Query("select id, title from orders order by id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	orders := []*order{}
	for rows.Next() {
		one := &order{}
		if err := rows.Scan(&one.ID, &one.Title); err != nil {
			return nil, err
		}
		orders = append(orders, one)
	}
	return orders, rows.Err()
}

func readLines(query string, of any) ([]line, error) {
	rows, err := db.Query(query, of)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	lines := []line{}
	for rows.Next() {
		one := line{}
		if err := rows.Scan(&one.Order, &one.Sku, &one.Count); err != nil {
			return nil, err
		}
		lines = append(lines, one)
	}
	return lines, rows.Err()
}
