package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/webhook"
)

var _ verify.Verifier = (*webhook.Verifier)(nil)

// The vector of the specification and its libraries.
const (
	vectorSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorTimestamp = "1614265330"
	vectorBody      = `{"test": 2432232314}`
	vectorSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var otherSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of more than 24 bytes"))

// clock stands still, some time after the vector was signed.
type clock time.Duration

func (c clock) Now() time.Time { return time.Unix(1614265330, 0).Add(time.Duration(c)) }

// message is a request that is good unless a test changes it.
type message struct {
	header http.Header
	body   string
}

func vector() *message {
	return &message{body: vectorBody, header: http.Header{
		webhook.HeaderID: {vectorID}, webhook.HeaderTimestamp: {vectorTimestamp}, webhook.HeaderSignature: {vectorSignature},
	}}
}

func (m *message) verify(v *webhook.Verifier) error {
	return v.Verify(&http.Request{Header: m.header}, []byte(m.body))
}

func verifier(t *testing.T, now time.Duration, secrets ...string) *webhook.Verifier {
	t.Helper()

	v, err := webhook.New(webhook.Config{Secrets: secrets, Clock: clock(now)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// forged is a signature by another hand than the package's.
func forged(key []byte, content string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(content))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestVerify(t *testing.T) {
	t.Parallel()

	const noneFits = "no signature of the webhook fits"
	type change = func(m *message)
	set := func(name, value string) change { return func(m *message) { m.header.Set(name, value) } }
	for name, c := range map[string]struct {
		change change
		now    time.Duration
		secret string
		want   string
	}{
		"Vector":        {},
		"SecretBare":    {secret: strings.TrimPrefix(vectorSecret, "whsec_")},
		"OldEnough":     {now: 5 * time.Minute},
		"YoungEnough":   {now: -5 * time.Minute},
		"SecondOfThree": {change: set(webhook.HeaderSignature, "v1,bm9uZQ== "+vectorSignature+" v1,bm9uZQ==")},
		"BesideAsymmetric": {
			change: set(webhook.HeaderSignature, "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5B "+vectorSignature),
		},
		"WrongSecret":   {secret: otherSecret, want: noneFits},
		"ChangedBody":   {change: func(m *message) { m.body = `{"test": 2432232315}` }, want: noneFits},
		"SpacedBody":    {change: func(m *message) { m.body += " " }, want: noneFits},
		"EmptyBody":     {change: func(m *message) { m.body = "" }, want: noneFits},
		"ChangedID":     {change: set(webhook.HeaderID, "msg_other"), want: noneFits},
		"ChangedTime":   {change: set(webhook.HeaderTimestamp, "1614265331"), want: noneFits},
		"PaddedTime":    {change: set(webhook.HeaderTimestamp, "01614265330"), want: noneFits},
		"Replayed":      {now: 5*time.Minute + time.Second, want: "the webhook's timestamp is too old"},
		"FromTheFuture": {now: -5*time.Minute - time.Second, want: "the webhook's timestamp is in the future"},
		"FarFuture": {
			change: set(webhook.HeaderTimestamp, "4611686018427387903"), want: "the webhook's timestamp is in the future",
		},
		"TimeNoNumber": {change: set(webhook.HeaderTimestamp, "now"), want: "the webhook's timestamp is malformed"},
		"TimeSigned": {
			change: set(webhook.HeaderTimestamp, "+1614265330"), want: "the webhook's timestamp is malformed",
		},
		"TimeNegative": {change: set(webhook.HeaderTimestamp, "-1"), want: "the webhook's timestamp is malformed"},
		"TimeOverflows": {
			change: set(webhook.HeaderTimestamp, "99999999999999999999"), want: "the webhook's timestamp is malformed",
		},
		"NoID": {
			change: func(m *message) { m.header.Del(webhook.HeaderID) }, want: "the header Webhook-Id is missing",
		},
		"NoTime": {
			change: func(m *message) { m.header.Del(webhook.HeaderTimestamp) }, want: "the header Webhook-Timestamp is missing",
		},
		"NoSignature": {
			change: func(m *message) { m.header.Del(webhook.HeaderSignature) }, want: "the header Webhook-Signature is missing",
		},
		"EmptySignature": {change: set(webhook.HeaderSignature, ""), want: "the header Webhook-Signature is missing"},
		"BlankSignature": {change: set(webhook.HeaderSignature, " "), want: noneFits},
		"OnlyTheScheme":  {change: set(webhook.HeaderSignature, "v1,"), want: noneFits},
		"WithoutScheme": {
			change: set(webhook.HeaderSignature, strings.TrimPrefix(vectorSignature, "v1,")), want: noneFits,
		},
		"OtherScheme": {
			change: set(webhook.HeaderSignature, "v2"+strings.TrimPrefix(vectorSignature, "v1")), want: noneFits,
		},
		"CutSignature": {
			change: set(webhook.HeaderSignature, vectorSignature[:len(vectorSignature)-1]), want: noneFits,
		},
		"SignatureTwice": {
			change: func(m *message) { m.header.Add(webhook.HeaderSignature, vectorSignature) },
			want:   "the header Webhook-Signature is there twice",
		},
		"EmptyKey": {
			change: set(webhook.HeaderSignature, forged(nil, vectorID+"."+vectorTimestamp+"."+vectorBody)), want: noneFits,
		},
		"KeyOfEncodedSecret": {
			change: set(webhook.HeaderSignature, forged([]byte(vectorSecret), vectorID+"."+vectorTimestamp+"."+vectorBody)),
			want:   noneFits,
		},
		"OnlyTheBodySigned": {change: set(webhook.HeaderSignature, forged(vectorKey(), vectorBody)), want: noneFits},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, secret := vector(), vectorSecret
			if c.change != nil {
				c.change(m)
			}
			if c.secret != "" {
				secret = c.secret
			}
			expect(t, m.verify(verifier(t, c.now, secret)), c.want)
		})
	}
}

func vectorKey() []byte {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(vectorSecret, "whsec_"))
	return key
}

// A signature stands for one id, one time and one body: moving the boundary between them
// would make another message of the same bytes.
func TestVerifyBoundary(t *testing.T) {
	t.Parallel()

	m := &message{body: vectorTimestamp + `.{"evil":true}`, header: http.Header{}}
	sign(t, m, "msg_1", clock(0).Now(), vectorSecret)
	v := verifier(t, 0, vectorSecret)
	expect(t, m.verify(v), "")

	m.header.Set(webhook.HeaderID, "msg_1."+vectorTimestamp)
	m.body = `{"evil":true}`
	expect(t, m.verify(v), "the webhook's id is malformed")
}

// While a secret is replaced, either side may be the first to know the new one.
func TestRotation(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		sender, receiver []string
		want             string
	}{
		"ReceiverFirst": {[]string{vectorSecret}, []string{otherSecret, vectorSecret}, ""},
		"SenderFirst":   {[]string{otherSecret, vectorSecret}, []string{vectorSecret}, ""},
		"Done":          {[]string{otherSecret}, []string{otherSecret}, ""},
		"Forgotten":     {[]string{vectorSecret}, []string{otherSecret}, "no signature of the webhook fits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := &message{body: vectorBody, header: http.Header{}}
			sign(t, m, "msg_1", clock(0).Now(), c.sender...)
			expect(t, m.verify(verifier(t, 0, c.receiver...)), c.want)
		})
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()

	v, err := webhook.New(webhook.Config{
		Secrets: []string{vectorSecret}, Clock: clock(2 * time.Second), Tolerance: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, vector().verify(v), "the webhook's timestamp is too old")

	// Without a clock it is the machine's, for which the vector is long past.
	if v, err = webhook.New(webhook.Config{Secrets: []string{vectorSecret}}); err != nil {
		t.Fatal(err)
	}
	expect(t, vector().verify(v), "the webhook's timestamp is too old")
	m := &message{body: "{}", header: http.Header{}}
	sign(t, m, "msg_1", time.Now(), vectorSecret)
	expect(t, m.verify(v), "")
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config webhook.Config
		want   string
	}{
		"NoSecrets":   {webhook.Config{}, "Secrets is required"},
		"EmptySecret": {webhook.Config{Secrets: []string{vectorSecret, ""}}, "Secrets[1] must have 24 bytes or more"},
		"OnlyPrefix":  {webhook.Config{Secrets: []string{"whsec_"}}, "Secrets[0] must have 24 bytes or more"},
		"Short":       {webhook.Config{Secrets: []string{"whsec_aHVudGVyMjIyMjI="}}, "Secrets[0] must have 24 bytes or more"},
		"NoBase64": {
			webhook.Config{Secrets: []string{"whsec_hunter22222-hunter22222-hunter22222"}},
			`Secrets[0] must be base64, with or without "whsec_" before it`,
		},
		"Tolerance": {webhook.Config{Secrets: []string{vectorSecret}, Tolerance: -1}, "Tolerance must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := webhook.New(c.config)
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != c.want {
				t.Errorf("New = %v, want %s", err, c.want)
			}
			if _, err := webhook.NewSigner(c.config.Secrets); c.config.Tolerance == 0 && spool.MessageOf(err) != c.want {
				t.Errorf("NewSigner = %v, want %s", err, c.want)
			}
		})
	}
}

func TestSign(t *testing.T) {
	t.Parallel()

	s, err := webhook.NewSigner([]string{vectorSecret})
	if err != nil {
		t.Fatal(err)
	}
	at, err := strconv.ParseInt(vectorTimestamp, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if err := s.Sign(h, vectorID, time.Unix(at, 999), []byte(vectorBody)); err != nil {
		t.Fatal(err)
	}
	for name, want := range vector().header {
		if got := h.Get(name); got != want[0] {
			t.Errorf("%s: %s, want %s", name, got, want[0])
		}
	}

	h = http.Header{}
	for _, id := range []string{"", "a.b", "a b", "a\nb", "ä", strings.Repeat("x", 257)} {
		if err := s.Sign(h, id, time.Now(), nil); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("Sign with the id %q = %v", id, err)
		}
	}
	if err := s.Sign(h, "msg_1", time.Unix(-1, 0), nil); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("Sign before 1970 = %v", err)
	}
	if len(h) > 0 {
		t.Errorf("a refused message has headers: %v", h)
	}
}

func sign(t *testing.T, m *message, id string, at time.Time, secrets ...string) {
	t.Helper()

	s, err := webhook.NewSigner(secrets)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sign(m.header, id, at, []byte(m.body)); err != nil {
		t.Fatal(err)
	}
}

// expect compares the text of an error, and looks for secrets in it.
func expect(t *testing.T, err error, want string) {
	t.Helper()

	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != want {
		t.Errorf("Verify = %q, want %q", text, want)
	}
	for _, secret := range []string{vectorSecret[6:], otherSecret[6:], vectorSignature[3:]} {
		if strings.Contains(text, secret) {
			t.Errorf("the error has a secret: %s", text)
		}
	}
}
