package config_test

// triggerProblems are those of the sections webhooks and schedules.
var triggerProblems = map[string]problem{
	"WebhookFields": {
		"webhooks:\n  endpoints:\n    - {tenant: 'a b', events: [run.ended, ''], text: yes please}",
		"spool.yaml:3: webhooks.endpoints[0].name: is required\n" +
			"spool.yaml:3: webhooks.endpoints[0].tenant: the tenant may only have letters, digits and the characters . _ : -\n" +
			"spool.yaml:3: webhooks.endpoints[0].url: is required\n" +
			"spool.yaml:3: webhooks.endpoints[0].secrets: is required\n" +
			"spool.yaml:3: webhooks.endpoints[0].events[0]: must be run.started, run.waiting, run.expiring, run.expired, run.budget_reached, run.handed_over, run.completed, run.failed, run.cancelled, thread.deleted or schedule.paused\n" +
			"spool.yaml:3: webhooks.endpoints[0].events[1]: is empty\n" +
			"spool.yaml:3: webhooks.endpoints[0].text: must be true or false",
	},
	"EndpointSecrets": {
		"webhooks:\n  endpoints:\n    - name: a\n      url: https://a\n      secrets: ['${KEY}', AAAA]\n    - {name: b, url: ftp://user:sk-secret@b, secrets: []}",
		"spool.yaml:5: webhooks.endpoints[0].secrets[0]: must be base64 of 24 to 64 bytes, with or without whsec_\n" +
			"spool.yaml:5: webhooks.endpoints[0].secrets[1]: must be base64 of 24 to 64 bytes, with or without whsec_\n" +
			"spool.yaml:6: webhooks.endpoints[1].url: must be an http or https URL\n" +
			"spool.yaml:6: webhooks.endpoints[1].secrets: is empty",
	},
	"WebhookFilter": {
		"webhooks:\n  endpoints:\n    - {name: a, url: 'https://a', secrets: ['${SIGN}'], agents: [a], labels: {' ': x}}\n    - {name: b, url: 'https://b', secrets: ['${SIGN}'], labels: {team: ''}, events: [run.failed, run.failed]}",
		"spool.yaml:3: webhooks.endpoints[0].labels: a key has up to 63 letters, digits and the characters . _ / - and begins with a letter or a digit\n" +
			"spool.yaml:4: webhooks.endpoints[1].events[1]: is there twice\n" +
			"spool.yaml:4: webhooks.endpoints[1].labels.team: is empty",
	},
	"WebhookTemplate": {
		"webhooks:\n  endpoints:\n    - {name: a, url: 'https://a', secrets: ['${SIGN}'], form: template}\n    - {name: b, url: 'https://b', secrets: ['${SIGN}'], template: x}\n    - {name: c, url: 'https://c', secrets: ['${SIGN}'], form: template, template: x, template_file: y}",
		"spool.yaml:3: webhooks.endpoints[0].template: is required for the form template\n" +
			"spool.yaml:4: webhooks.endpoints[1].form: must be template if there is a template or a content_type\n" +
			"spool.yaml:5: webhooks.endpoints[2].template_file: stands in place of template: leave one of them out",
	},
	"WebhookTwice": {
		"webhooks:\n  endpoints:\n    - {name: a, url: 'https://a', secrets: ['${SIGN}']}\n    - {name: a, tenant: b, url: 'https://a', secrets: ['${SIGN}']}\n    - {name: a, url: 'https://b', secrets: ['${SIGN}']}\n  hosts: [{host: a, secrets: ['${SIGN}']}, {host: A, secrets: ['${SIGN}']}, {host: 'https://b', secrets: ['${SIGN}']}]",
		"spool.yaml:5: webhooks.endpoints[2].name: another endpoint of the tenant has the same name\n" +
			"spool.yaml:6: webhooks.hosts[1].host: the same host is there twice\n" +
			`spool.yaml:6: webhooks.hosts[2].host: must be a host or an address, without a port, such as "hooks.example.com"`,
	},
	"WebhookBounds": {
		"webhooks: {private: ['10.0.0.0/99'], keep: 1d, max_endpoints: 0}",
		"spool.yaml:1: webhooks.private[0]: must be a host, an address such as \"127.0.0.1\" or a range such as \"10.0.0.0/8\"\n" +
			"spool.yaml:1: webhooks.max_endpoints: must be 1 or more\n" +
			"spool.yaml:1: webhooks.keep: must be a duration such as \"500ms\", \"30s\" or \"15m\"",
	},
	"ScheduleRule": {
		"schedules:\n  entries:\n    - {name: a, prompt: x}\n    - {name: b, prompt: x, cron: '0 3 * *', zone: UTC}\n    - {name: c, prompt: x, cron: '0 3 30 2 *', zone: UTC}\n    - {name: d, prompt: x, cron: '0 3 * * *', zone: Europa/Berlin}\n    - {name: e, prompt: x, every: 10s}\n    - {name: f, prompt: x, every: 1h, at: 2027-01-31T00:00:00Z}\n    - {name: g, prompt: x, cron: '0 3 * * *'}\n    - {name: h, prompt: x, every: 1h, zone: UTC}\n    - {name: i, prompt: x, cron: '${KEY}', zone: UTC}",
		"spool.yaml:3: schedules.entries[0]: needs one of cron, every and at\n" +
			"spool.yaml:4: schedules.entries[1].cron: needs 5 fields (minute, hour, day of month, month and day of week) and has 4\n" +
			"spool.yaml:5: schedules.entries[2].cron: never comes due: none of its months has one of its days\n" +
			"spool.yaml:6: schedules.entries[3].zone: \"Europa/Berlin\" is not the name of a time zone: use one of the IANA database, such as \"Europe/Berlin\" or \"UTC\"\n" +
			"spool.yaml:7: schedules.entries[4].every: 10s is shorter than 1m0s\n" +
			"spool.yaml:8: schedules.entries[5]: needs one of cron, every and at\n" +
			"spool.yaml:9: schedules.entries[6].zone: is required: use one of the IANA database, such as \"Europe/Berlin\" or \"UTC\"\n" +
			"spool.yaml:10: schedules.entries[7].zone: is only for cron\n" +
			"spool.yaml:11: schedules.entries[8].cron: is not valid",
	},
	"ScheduleFields": {
		fine + "schedules:\n  entries:\n    - {name: a, at: 2027-01-31T00:00:00Z}\n    - {name: b c, prompt: x, at: 2027-01-31T00:00:00Z, agent: b, model: n, thread: '', title: \"a\\nb\", labels: {a: ''}, overlap: queue, missed: some, jitter: often, scopes: [rite]}\n    - {name: a, prompt: x, at: 2027-01-31T00:00:00Z, budget: {tokens: 0, currency: EUR}}\n  max_scopes: [read]",
		"spool.yaml:5: schedules.entries[0].prompt: is required\n" +
			"spool.yaml:6: schedules.entries[1].name: the name may only have letters, digits and the characters . _ : -\n" +
			"spool.yaml:6: schedules.entries[1].agent: there is no agent \"b\"\n" +
			"spool.yaml:6: schedules.entries[1].model: there is no model \"n\"\n" +
			"spool.yaml:6: schedules.entries[1].thread: the thread is required\n" +
			"spool.yaml:6: schedules.entries[1].title: has control characters, or is not UTF-8\n" +
			"spool.yaml:6: schedules.entries[1].labels.a: is empty\n" +
			"spool.yaml:6: schedules.entries[1].overlap: must be skip, reject, enqueue, latest, interrupt, rollback or steer\n" +
			"spool.yaml:6: schedules.entries[1].missed: must be skip, latest or all\n" +
			"spool.yaml:6: schedules.entries[1].jitter: must be a duration such as \"500ms\", \"30s\" or \"15m\"\n" +
			"spool.yaml:6: schedules.entries[1].scopes[0]: must be one of read, write, approve, stop, webhooks, schedules, admin\n" +
			"spool.yaml:7: schedules.entries[2].budget.currency: unknown field; there are tokens, cost_micros, tool_calls, wall_time\n" +
			"spool.yaml:7: schedules.entries[2].budget.tokens: must be 1 or more\n" +
			"spool.yaml:7: schedules.entries[2].name: another schedule of the tenant has the same name\n" +
			"spool.yaml:8: schedules.max_scopes: needs either both max_scopes and max_age, or neither",
	},
}
