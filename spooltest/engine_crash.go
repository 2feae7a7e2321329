package spooltest

import "testing"

func testEngineCrash(t *testing.T, open Open, features Features) {}
