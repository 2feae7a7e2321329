package webhook_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spoolhq/spool/server/verify/webhook"
)

// sent is when the message of the example is signed and received.
type sent struct{}

func (sent) Now() time.Time { return time.Unix(1614265330, 0) }

func Example() {
	secrets := []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	body := []byte(`{"test": 2432232314}`)

	signer, err := webhook.NewSigner(secrets)
	if err != nil {
		panic(err)
	}
	request := &http.Request{Header: http.Header{}}
	if err := signer.Sign(request.Header, "msg_p5jXN8AQM9LWM0D4loKWxJek", sent{}.Now(), body); err != nil {
		panic(err)
	}
	fmt.Println(request.Header.Get(webhook.HeaderSignature))

	verifier, err := webhook.New(webhook.Config{Secrets: secrets, Clock: sent{}})
	if err != nil {
		panic(err)
	}
	fmt.Println(verifier.Verify(request, body))
	fmt.Println(verifier.Verify(request, []byte(`{"test": 0}`)))
	// Output:
	// v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
	// <nil>
	// no signature of the webhook fits
}
