package redis_test

import (
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/rest/throttle/redis"
)

func ExampleCounter() {
	client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:6379"})
	defer func() { _ = client.Close() }()

	counter := redis.Counter(client, &redis.Options{Prefix: "shop:throttle:", Timeout: 100 * time.Millisecond})
	api := rest.New(rest.Throttles(
		throttle.PerUser("100/min", throttle.Count(counter)),
		throttle.Anonymous("10/min", throttle.Count(counter), throttle.OnFault(throttle.Allow)),
	))
	fmt.Println(len(api.Routes()))
	// Output: 0
}
