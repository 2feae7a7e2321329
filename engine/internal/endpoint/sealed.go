package endpoint

import (
	"encoding/base64"
	"strings"

	"github.com/spoolhq/spool"
)

// sealedMark begins the text that stands for the webhook of a start in the store: the mark, what the vault has sealed
// in base64, an @ and the host. No URL begins with it.
const sealedMark = "sealed:"

// SealURL returns what the store keeps of the webhook of a start, which was checked. Without a vault it is the URL.
func (b *Book) SealURL(tenant spool.Tenant, url string) (string, error) {
	if b == nil || b.config.Vault == nil || url == "" {
		return url, nil
	}
	sealed, err := b.config.Vault.Seal(useOfStart(tenant), []byte(url))
	if err != nil {
		return "", err
	}
	host := strings.TrimPrefix(SubjectOf(url), HostSubject(""))
	return sealedMark + base64.RawURLEncoding.EncodeToString(sealed) + "@" + host, nil
}

// OpenURL returns the URL of what SealURL has returned, and any other text as it is. It returns an [spool.Invalid]
// error if this process cannot open it.
func (b *Book) OpenURL(tenant spool.Tenant, kept string) (string, error) {
	text, _, ok := cutSealed(kept)
	if !ok {
		return kept, nil
	}
	if b == nil || b.config.Vault == nil {
		return "", errSealed
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", errSealed
	}
	url, err := b.config.Vault.Open(useOfStart(tenant), sealed)
	if err != nil {
		return "", &spool.Error{Code: spool.Invalid, Message: spool.MessageOf(errSealed), Err: err}
	}
	return string(url), nil
}

// cutSealed returns the base64 and the host of a sealed URL.
func cutSealed(kept string) (text, host string, ok bool) {
	if text, ok = strings.CutPrefix(kept, sealedMark); ok {
		text, host, ok = strings.Cut(text, "@")
	}
	return text, host, ok
}

// useOfStart is what the webhooks of a tenant's starts are sealed for.
func useOfStart(tenant spool.Tenant) string { return "webhook of a start\x00" + string(tenant) }

var errSealed = spool.Errorf(spool.Invalid, "webhook: the URL is encrypted with a key that this process does not have")
