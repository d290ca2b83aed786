// Command gin serves the workloads with Gin on net/http.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"

	contract "bench/gocontract"

	"github.com/gin-gonic/gin"
	codec "github.com/gin-gonic/gin/codec/json"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	settings, err := contract.ReadSettings()
	if err != nil {
		return err
	}
	devices, err := contract.LoadDevices()
	if err != nil {
		return err
	}
	upstream, err := contract.OpenUpstream(json.Unmarshal)
	if err != nil {
		return err
	}
	waiting, err := contract.Waiting()
	if err != nil {
		return err
	}
	table, err := openUsers()
	if err != nil {
		return err
	}
	gin.SetMode(gin.ReleaseMode)
	app := gin.New()
	app.Use(gin.Recovery())
	app.GET("/api/devices", func(c *gin.Context) {
		c.JSON(http.StatusOK, devices)
	})
	app.GET("/data", func(c *gin.Context) {
		answer := upstream.Answer(c.Request.Context())
		if answer.ServerTiming != "" {
			c.Header("Server-Timing", answer.ServerTiming)
		}
		c.JSON(answer.Status, answer.Body)
	})
	app.GET("/fib/:n", func(c *gin.Context) {
		n, err := strconv.Atoi(c.Param("n"))
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, contract.ComputeFib(n, c.Writer.Header()))
	})
	app.GET("/wait", func(c *gin.Context) {
		c.JSON(http.StatusOK, contract.Sleep(waiting, c.Writer.Header()))
	})
	table.route(app)
	return contract.Run(settings, &http.Server{Handler: app}, contract.About{
		Framework:   "gin " + contract.ModuleVersion("github.com/gin-gonic/gin"),
		Server:      "net/http " + contract.GoVersion(),
		JSON:        codec.Package,
		JSONVersion: contract.GoVersion(),
		Drivers:     table.drivers(),
	})
}
