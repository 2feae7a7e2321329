// Package s3 stores the data of artifacts as objects of a bucket that speaks the S3 protocol: Amazon S3, MinIO, Ceph,
// Cloudflare R2, Google Cloud Storage and others.
//
// The name of an object is the prefix and the key of the blob. A put is one request, so an object appears when it is
// complete. The service should keep no versions of the objects, or remove old ones by a rule of its lifecycle: data
// that Spool deletes stay as old versions otherwise.
//
// The credentials need the actions s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, and s3:ListBucket on
// the bucket, without which the service answers that a missing object is forbidden.
//
// The tests use a fake server that verifies each signature. The package has not been tried with a service.
//
// The client of MinIO, which the package uses, adds 1.6 MB to a program. Programs that do not import the package do not
// link it.
package s3

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/internal/blob"
	"github.com/spoolhq/spool/store"
)

// Options of [Blobs].
type Options struct {
	// Endpoint is the URL of the service, such as "https://s3.eu-central-1.amazonaws.com" or
	// "https://minio.example.com:9000", without a path. Required.
	Endpoint string
	// Bucket is the name of the bucket, which must exist. Required.
	Bucket string
	// Prefix begins the names of all objects, such as "spool/". It has up to 200 letters, digits and characters of
	// "-_./", and neither begins with / nor has empty elements or those of dots only. Defaults to none.
	Prefix string
	// Region is that of the bucket. Defaults to what the endpoint or the service says.
	Region string
	// AccessKey and SecretKey are the credentials. Defaults to those of the machine: of the environment
	// (AWS_ACCESS_KEY_ID or MINIO_ACCESS_KEY), of the files in ~/.aws, or of the role of the instance, the container or
	// the pod, which are asked for without Transport.
	AccessKey, SecretKey string
	// Insecure allows an Endpoint with http. Requests are signed, but everybody on the way can read the data.
	Insecure bool
	// PathStyle has the bucket in the path of URLs, where the name of the host has it otherwise. Endpoints other than
	// those of Amazon and Google have it in the path anyway.
	PathStyle bool
	// Transport makes the requests to the service, for example under rules of egress. It should not follow redirects.
	// Defaults to one that uses the proxy of the environment.
	Transport http.RoundTripper
}

// Blobs is a [store.Blobs] in a bucket. It is safe for concurrent use, also by several processes.
//
// Requests that the service or the network fails are repeated a few times within about four seconds, except puts of
// more than 1 MiB whose data are no [io.Seeker].
type Blobs struct {
	client *minio.Core
	bucket string
	prefix string
}

var _ store.Blobs = (*Blobs)(nil)

const (
	tries           = 5
	credentialsTime = 5 * time.Second
)

// Open returns the blobs in a bucket. It asks the service for an object, which need not exist. It returns an
// [spool.Invalid] error that names the option which is wrong or which the service refuses, and an [spool.Unavailable]
// error if the service cannot be reached.
func Open(ctx context.Context, o Options) (*Blobs, error) {
	endpoint, err := o.check()
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	known := o.credentials()
	client, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds: known, Secure: endpoint.Scheme == "https", Transport: o.Transport, Region: o.Region, BucketLookup: lookup,
		MaxRetries: tries,
	})
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "Endpoint: it is not one of a service")
	}
	if value, err := known.GetWithContext(client.CredContext()); err != nil || value.AccessKeyID == "" {
		return nil, spool.Errorf(spool.Invalid, "AccessKey: there is none, and the machine has no credentials")
	}
	b := &Blobs{client, o.Bucket, o.Prefix}
	return b, b.check(ctx)
}

var (
	validBucket = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	validPrefix = regexp.MustCompile(`^([A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]*$`)
	dots        = regexp.MustCompile(`(^|/)\.+(/|$)`)
	validRegion = regexp.MustCompile(`^[a-z0-9-]{0,64}$`)
)

// check returns the endpoint, or an error that names the field.
func (o Options) check() (*url.URL, error) {
	endpoint, err := url.Parse(o.Endpoint)
	switch {
	case o.Endpoint == "":
		return nil, spool.Errorf(spool.Invalid, "Endpoint is required")
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http":
		return nil, spool.Errorf(spool.Invalid, "Endpoint is not a URL with https")
	case endpoint.Path != "" && endpoint.Path != "/" || endpoint.RawQuery != "" || endpoint.Fragment != "" ||
		endpoint.User != nil:
		return nil, spool.Errorf(spool.Invalid, "Endpoint has more than a host and a port")
	case endpoint.Scheme == "http" && !o.Insecure:
		return nil, spool.Errorf(spool.Invalid, "Endpoint has http, and Insecure is not set")
	case o.Bucket == "":
		return nil, spool.Errorf(spool.Invalid, "Bucket is required")
	case !validBucket.MatchString(o.Bucket):
		return nil, spool.Errorf(spool.Invalid, "Bucket is not the name of a bucket")
	case len(o.Prefix) > 200 || !validPrefix.MatchString(o.Prefix) || dots.MatchString(o.Prefix):
		return nil, spool.Errorf(spool.Invalid, "Prefix is not one of names of objects")
	case !validRegion.MatchString(o.Region):
		return nil, spool.Errorf(spool.Invalid, "Region is not the name of a region")
	case o.AccessKey == "" && o.SecretKey != "":
		return nil, spool.Errorf(spool.Invalid, "AccessKey is required with SecretKey")
	case o.AccessKey != "" && o.SecretKey == "":
		return nil, spool.Errorf(spool.Invalid, "SecretKey is required with AccessKey")
	}
	return endpoint, nil
}

func (o Options) credentials() *credentials.Credentials {
	if o.AccessKey != "" {
		return credentials.NewStaticV4(o.AccessKey, o.SecretKey, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: credentialsTime}},
	})
}

// check asks for an object to see whether the service knows the bucket and the credentials.
func (b *Blobs) check(ctx context.Context) error {
	r, err := b.get(ctx, "spool-check")
	if err == nil {
		return r.Close()
	}
	if codeOf(err) == minio.NoSuchKey {
		return nil
	}
	return refused(err)
}

func (b *Blobs) get(ctx context.Context, key string) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	o.Set("Accept-Encoding", "identity") // else a transport may ask for other bytes than the object has
	body, info, header, err := b.client.GetObject(ctx, b.bucket, b.prefix+key, o)
	if err != nil {
		return nil, err
	}
	if info.Size < 0 || header.Get("Content-Range") != "" || header.Get("Content-Encoding") != "" {
		_ = body.Close()
		return nil, errLength
	}
	return &reader{ctx: ctx, body: body, left: info.Size}, nil
}

// OpenBlob implements [store.Blobs]. The context is also that of the reads.
func (b *Blobs) OpenBlob(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	r, err := b.get(ctx, key)
	if codeOf(err) == minio.NoSuchKey {
		return nil, blob.NotFound(nil)
	}
	return r, failed(err)
}

// DeleteBlob implements [store.Blobs].
func (b *Blobs) DeleteBlob(ctx context.Context, key string) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	err := b.client.RemoveObject(ctx, b.bucket, b.prefix+key, minio.RemoveObjectOptions{})
	if codeOf(err) == minio.NoSuchKey {
		return nil
	}
	return failed(err)
}

// reader is the data of an object. It ends with an error if the answer ends before the object does.
type reader struct {
	ctx  context.Context //nolint:containedctx // it is the context of one read
	body io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.left -= int64(n)
	switch {
	case err == nil:
		return n, nil
	case err == io.EOF && r.left == 0:
		return n, io.EOF
	case r.ctx.Err() != nil:
		return n, r.ctx.Err()
	default:
		return n, &spool.Error{Code: spool.Unavailable, Message: "the answer of the store of artifacts was cut", Err: err}
	}
}

// Close implements [io.Closer].
func (r *reader) Close() error { return r.body.Close() }
