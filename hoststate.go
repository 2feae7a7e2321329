package spool

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MaxHostStateBytes bounds the state that a host gives to a start: see [store.RunState.HostState].
const MaxHostStateBytes = 64 << 10

// CheckHostState returns an [Invalid] error, without the state in it, unless state is empty
// or a JSON object of up to [MaxHostStateBytes].
func CheckHostState(state json.RawMessage) error {
	trimmed := bytes.TrimLeft(state, " \t\r\n")
	switch {
	case len(state) == 0:
		return nil
	case len(state) > MaxHostStateBytes:
		return Errorf(Invalid, "hostState is longer than %d bytes", MaxHostStateBytes)
	case len(trimmed) == 0, trimmed[0] != '{', !json.Valid(state), !utf8.Valid(state):
		return Errorf(Invalid, "hostState is not a JSON object")
	default:
		return nil
	}
}
