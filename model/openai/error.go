package openai

import "github.com/spoolhq/spool/internal/openaiwire"

// chunkError returns the error in an answer whose status was 200, or nil.
func chunkError(conn *openaiwire.Conn, c *chunk) error {
	if !c.Described() && c.Object != "error" {
		return nil
	}
	return c.Err(conn)
}
