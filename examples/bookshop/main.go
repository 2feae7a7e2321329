// Command bookshop is a book shop on one SQLite file, an example of every feature of the rest library.
// It is meant to be read: start with shop.go, which puts the parts together.
//
//	GOWORK=off go run .            serves the shop on 127.0.0.1:8090
//	GOWORK=off go run . openapi    writes its OpenAPI document
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spoolhq/spool/rest"
)

// demoKey is the API key of the demonstration. A real shop has random keys.
const demoKey = "demo-key"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bookshop:", err)
		os.Exit(1)
	}
}

// run runs the program. It returns when ctx has ended and all requests are answered.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bookshop", flag.ContinueOnError)
	flags.SetOutput(out)
	address := flags.String("addr", "127.0.0.1:8090", "where to listen")
	file := flags.String("db", "", "the SQLite file (default in memory)")
	debug := flags.Bool("debug", false, "serve /debug/routes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	secret, err := secretFrom(os.Getenv("BOOKSHOP_SECRET"))
	if err != nil {
		return err
	}
	shop, err := openShop(ctx, config{
		File: *file, Secret: secret, PartnerKeys: demoKeys(), OpsPassword: "demo", Debug: *debug,
	})
	if err != nil {
		return err
	}
	defer shop.close()
	switch flags.Arg(0) {
	case "openapi":
		return shop.api.WriteOpenAPI(out)
	case "":
		return serve(ctx, shop, *address, out)
	default:
		return fmt.Errorf("%q is no command; there is openapi", flags.Arg(0))
	}
}

// secretFrom returns the secret of the environment. Without a secret, tokens are valid until the
// program ends.
func secretFrom(text string) ([]byte, error) {
	if text == "" {
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // it never fails
		return secret, nil
	}
	if len(text) < 32 {
		return nil, errors.New("BOOKSHOP_SECRET is shorter than 32 bytes")
	}
	return []byte(text), nil
}

func demoKeys() map[string]*rest.User {
	return map[string]*rest.User{
		demoKey:        {ID: "partner-demo", Name: "Demo partner", Scopes: []string{partnerScope, catalogScope}},
		"demo-reading": {ID: "partner-reading", Name: "Reading partner", Scopes: []string{partnerScope}},
	}
}

func serve(ctx context.Context, s *shop, address string, out io.Writer) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.api, ReadHeaderTimeout: 10 * time.Second}
	server.RegisterOnShutdown(s.end)
	welcome(out, "http://"+listener.Addr().String())
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(last)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

func welcome(out io.Writer, at string) {
	_, _ = fmt.Fprintf(out, `The shop is open. Its documentation: %[1]s/docs

  curl '%[1]s/books?author=jane+austen&ordering=-price'
  curl '%[1]s/partner/books.csv?key=%[2]s'
  curl -X PATCH '%[1]s/books/1?key=%[2]s' -H 'Content-Type: application/json' -d '{"price": 949}'
  curl '%[1]s/login' -H 'Content-Type: application/json' -d '{"user": "%[3]s", "password": "%[4]s"}'
  curl -N -H 'Last-Event-ID: 0' '%[1]s/prices'

`, at, demoKey, demoCustomer, demoPassword)
}
