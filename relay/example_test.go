package relay_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/relay"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/verify/webhook"
)

// push has the jobs of an engine pushed until ctx ends.
func push(ctx context.Context, e *engine.Engine) error {
	pusher, err := relay.New(relay.Config{
		URL: "https://queue.example.com/in", Secrets: []string{os.Getenv("PUSH_SECRET")},
	})
	if err != nil {
		return err
	}
	return e.Work(ctx, engine.WorkOptions{Deliver: pusher.Deliver})
}

// take makes the server that jobs are delivered to.
func take(e *engine.Engine, tokens access.Authenticator) error {
	verifier, err := webhook.New(webhook.Config{Secrets: []string{os.Getenv("QUEUE_SECRET")}})
	if err != nil {
		return err
	}
	s, err := server.New(e, server.Config{Authenticator: tokens, QueueVerifier: verifier})
	if err != nil {
		return err
	}
	return s.Close()
}

// deliver signs a message as a queue does.
func deliver(request *http.Request, body []byte) error {
	signer, err := webhook.NewSigner([]string{os.Getenv("QUEUE_SECRET")})
	if err != nil {
		return err
	}
	err = signer.Sign(request.Header, "job_42", time.Now(), body)
	return err
}

// Nothing is pushed, taken or signed without a secret.
func Example() {
	err := errors.Join(os.Unsetenv("PUSH_SECRET"), os.Unsetenv("QUEUE_SECRET"))
	if err != nil {
		panic(err)
	}
	fmt.Println(spool.MessageOf(push(context.Background(), nil)))
	fmt.Println(spool.MessageOf(take(nil, nil)))
	fmt.Println(spool.MessageOf(deliver(nil, nil)))
	// Output:
	// Secrets[0] must have 24 bytes or more
	// Secrets[0] must have 24 bytes or more
	// Secrets[0] must have 24 bytes or more
}
