package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/minio/minio-go/v7"

	"github.com/spoolhq/spool"
)

var errLength = errors.New("the answer does not have the length of the object")

// codeOf returns the service's code of an error, or "" for other errors.
func codeOf(err error) string {
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return answer.Code
	}
	return ""
}

// failed returns the error of a failing service, whose message has nothing of the service's or the request.
func failed(err error) error {
	if own, ok := errors.AsType[dataError](err); ok {
		return own.error
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return spool.Wrap(spool.Unavailable, "the store of artifacts failed", cause(err))
}

var plainCode = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// cause returns an error for the log: of an answer only the code and the status, as its text may repeat the request.
func cause(err error) error {
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok {
		if !plainCode.MatchString(answer.Code) {
			answer.Code = "an unknown error"
		}
		return fmt.Errorf("the service answers %s, status %d", answer.Code, answer.StatusCode)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}

// refused returns the error of Open for that of a first request.
func refused(err error) error {
	wrong := func(message string) error {
		return &spool.Error{Code: spool.Invalid, Message: message, Err: cause(err)}
	}
	switch codeOf(err) {
	case minio.NoSuchBucket, minio.InvalidBucketName:
		return wrong("Bucket: the service does not have it")
	case "InvalidAccessKeyId", "InvalidToken", "InvalidTokenId", "Unauthorized":
		return wrong("AccessKey: the service does not know it")
	case "SignatureDoesNotMatch":
		return wrong("SecretKey: it is not the one of the access key")
	case minio.AccessDenied, "AllAccessDisabled", "AccountProblem":
		return wrong("AccessKey: it may not read objects of the bucket and list them")
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect", "TemporaryRedirect",
		"IllegalLocationConstraintException":
		return wrong("Region or Endpoint: the bucket is in another region")
	case "RequestTimeTooSkewed":
		return wrong("the clock of this machine is wrong")
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return wrong("Endpoint: its certificate is not trusted")
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return wrong("Endpoint: its certificate is not trusted")
	}
	if known, ok := errors.AsType[*spool.Error](err); ok { // of the transport
		return &spool.Error{Code: known.Code, Message: "Endpoint: " + known.Message, Err: cause(err)}
	}
	return failed(err)
}
