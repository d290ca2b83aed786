// Command fiber serves devices and gather with Fiber on fasthttp; a flag chooses the JSON library.
package main

import (
	"context"
	"flag"
	"log"
	"net"

	contract "bench/gocontract"

	"github.com/gofiber/fiber/v3"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	name := flag.String("json", codecNames[0], "library that writes and reads JSON")
	settings, err := contract.ReadSettings()
	if err != nil {
		return err
	}
	json, err := findCodec(*name)
	if err != nil {
		return err
	}
	devices, err := contract.LoadDevices()
	if err != nil {
		return err
	}
	upstream, err := contract.OpenUpstream(json.unmarshal)
	if err != nil {
		return err
	}
	return contract.Run(settings, server{newApp(json, devices, upstream)}, contract.About{
		Framework:   "fiber " + fiber.Version,
		Server:      "fasthttp " + contract.ModuleVersion("github.com/valyala/fasthttp"),
		JSON:        json.name,
		JSONVersion: json.version,
	})
}

func newApp(json codec, devices []contract.Device, upstream *contract.Upstream) *fiber.App {
	app := fiber.New(fiber.Config{
		IdleTimeout: contract.KeepAlive,
		JSONEncoder: json.marshal,
		JSONDecoder: json.unmarshal,
	})
	app.Get("/api/devices", func(c fiber.Ctx) error {
		return c.JSON(devices)
	})
	app.Get("/data", func(c fiber.Ctx) error {
		answer := upstream.Answer(c.Context())
		if answer.ServerTiming != "" {
			c.Set("Server-Timing", answer.ServerTiming)
		}
		return c.Status(answer.Status).JSON(answer.Body)
	})
	return app
}

// server adapts a Fiber application to the contract.
type server struct{ app *fiber.App }

func (s server) Serve(listener net.Listener) error {
	return s.app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true})
}

func (s server) Shutdown(ctx context.Context) error {
	return s.app.ShutdownWithContext(ctx)
}
