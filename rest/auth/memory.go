package auth

import (
	"context"
	"sync"
	"time"
)

// MemorySessions is a [SessionStore] in memory. Its sessions end with the process. The zero
// value is ready for use.
type MemorySessions struct {
	mu       sync.Mutex
	sessions map[string]SessionData
	// sweepAt is the size at which expired sessions are removed. It is then set to twice the
	// remaining size, so that sweeping costs no more than saving.
	sweepAt int
}

// Save implements [SessionStore].
func (m *MemorySessions) Save(_ context.Context, key string, session SessionData) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.sessions == nil {
		m.sessions = map[string]SessionData{}
		m.sweepAt = 128
	}
	if len(m.sessions) >= m.sweepAt {
		m.sweep()
	}
	m.sessions[key] = session
	return nil
}

// Load implements [SessionStore].
func (m *MemorySessions) Load(_ context.Context, key string) (SessionData, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	session, ok := m.sessions[key]
	if ok && !time.Now().Before(session.Expires) {
		delete(m.sessions, key)
		return SessionData{}, false, nil
	}
	return session, ok, nil
}

// Delete implements [SessionStore].
func (m *MemorySessions) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.sessions, key)
	return nil
}

// Len returns the number of stored sessions, including expired ones.
func (m *MemorySessions) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return len(m.sessions)
}

func (m *MemorySessions) sweep() {
	now := time.Now()
	for key, session := range m.sessions {
		if !now.Before(session.Expires) {
			delete(m.sessions, key)
		}
	}
	m.sweepAt = max(128, 2*len(m.sessions))
}
