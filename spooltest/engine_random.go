package spooltest

import "testing"

func testEngineRandom(t *testing.T, open Open, features Features) {}
