package counterpart_test

import (
	"context"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/permission"
)

// known finds the two users.
func known(_ context.Context, key string) (*rest.User, error) {
	if key == "ann" || key == "bob" {
		return &rest.User{ID: key}, nil
	}
	return nil, nil //nolint:nilnil // nobody
}

var (
	keyQuery  = auth.APIKeyQuery("key", known)
	keyHeader = auth.APIKeyHeader("X-Key", known)
	bearer    = auth.Bearer(known)
	basic     = auth.Basic(func(_ context.Context, user, password string) (*rest.User, error) {
		if password == "secret" {
			return &rest.User{ID: user}, nil
		}
		return nil, nil //nolint:nilnil // nobody
	})

	isAnn = is("ann")
	isBob = is("bob")
	never = permission.WithMessage(permission.If(func(context.Context) bool { return false }), "Only on Sundays.")
	owns  = permission.Object(func(ctx context.Context, p Planet) error {
		if (p.ID%2 == 1) == (who(ctx) == "ann") {
			return nil
		}
		return rest.Denied("")
	})
)

func who(ctx context.Context) string {
	if p := rest.PrincipalOf(ctx); p != nil {
		return p.PrincipalID()
	}
	return ""
}

func is(name string) rest.Permission {
	return permission.If(func(ctx context.Context) bool { return who(ctx) == name })
}

func signIn(r *rest.Routes) {
	whoami := func(ctx context.Context, _ struct{}) (object, error) { return object{"who": who(ctx)}, nil }
	rest.Get(r, "/query", whoami, rest.Auth(keyQuery), rest.Name("query"))
	rest.Get(r, "/header", whoami, rest.Auth(keyHeader), rest.Name("header"))
	rest.Get(r, "/bearer", whoami, rest.Auth(bearer), rest.Name("bearer"))
	rest.Get(r, "/basic", whoami, rest.Auth(basic), rest.Name("basic"))
	rest.Get(r, "/either", whoami, rest.Auth(keyHeader, bearer), rest.Name("either"))
	rest.Get(r, "/open", always("open"))
}

func guarded(r *rest.Routes) {
	in := always("in")
	rest.Get(r, "/inherited", in)
	rest.Get(r, "/bob", in, rest.Permit(isBob))
	rest.Get(r, "/and", in, rest.Permit(permission.All(isAnn, isBob)))
	rest.Get(r, "/or", in, rest.Permit(permission.Any(isAnn, isBob)))
	rest.Get(r, "/not", in, rest.Permit(permission.Not(isAnn)))
	rest.Get(r, "/nested", in, rest.Permit(permission.Any(permission.All(isAnn, permission.Not(isBob)), isBob)))
	rest.Get(r, "/never", in, rest.Permit(never))
	rest.Get(r, "/all", in, rest.Permit(isAnn, never))
	rest.Get(r, "/any", in, rest.Permit(permission.AllowAny))
	rest.Get(r, "/none", in, rest.NoAuth(), rest.Permit(permission.AllowAny))
	rest.Post(r, "/input", reply(func(Owner) string { return "in" }), rest.Permit(never))
	rest.Get(r, "/planets/{int:id}", func(ctx context.Context, in struct {
		ID int64 `path:"id"`
	},
	) (Planet, error) {
		return rest.GetOrNotFound(ctx, func(_ context.Context, id int64) (Planet, error) {
			for _, p := range planets() {
				if p.ID == id {
					return p, nil
				}
			}
			return Planet{}, rest.ErrNotFound
		}, in.ID)
	}, rest.Permit(owns))
}
