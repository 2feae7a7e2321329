package main

import (
	"strings"
	"sync"
	"time"
)

// user is the owner of a token.
type user struct {
	Name string
	Role string
}

// staff is the role that may use guarded routes.
const staff = "staff"

// The tokens in requests.
const (
	staffToken  = "6f1c9a3e5b7d48f0a2c4"
	publicToken = "0d9e8f7a6b5c4d3e2f1a"
)

// users has the owner of each token.
var users = map[string]user{
	staffToken:  {Name: "Ada", Role: staff},
	publicToken: {Name: "Bo", Role: "public"},
}

// userOf returns the user of an Authorization header.
func userOf(authorization string) (user, bool) {
	scheme, token, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return user{}, false
	}
	u, ok := users[token]
	return u, ok
}

// The buckets never run empty, because the taking of a token is measured.
const (
	bucketRate  = 1e9 // tokens a second
	bucketBurst = 1e9
)

// limiter has a bucket of tokens for each user. It is safe for concurrent use.
type limiter struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func newLimiter() *limiter { return &limiter{buckets: map[string]*bucket{}} }

// take takes a token from a user's bucket, and returns whether there was one.
func (l *limiter) take(name string) bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()

	b := l.buckets[name]
	if b == nil {
		b = &bucket{tokens: bucketBurst, filled: now}
		l.buckets[name] = b
	}
	b.tokens = min(bucketBurst, b.tokens+now.Sub(b.filled).Seconds()*bucketRate)
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
