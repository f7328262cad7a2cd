"""Values for the chart, from the least to all options."""

from tests.support.chart import Values, laid_over, values_file

DEFAULT: Values = {"engine": {"url": "http://engine.test:8000/v1"}}
EXTERNAL: Values = {
    "engines": [
        {"name": "a", "url": "https://a.test/v1", "models": ["a-*"], "existingSecret": "engine-a"},
        {"name": "b", "url": "http://b.test:9000/v1", "chat_only": True, "context": 32768},
    ],
    "keys": {"existingSecret": "api-keys"},
    "nats": {"enabled": False},
    "bus": {
        "url": "tls://nats.test:4333",
        "monitor": "nats-headless.nats.svc:8222",
        "existingSecret": "nats",
    },
    "qdrant": {"enabled": False},
    "store": {"url": "https://qdrant.test", "existingSecret": "qdrant"},
    "embedding": {"url": "http://embed.test:8080/v1"},
    "rerank": {"url": "http://rerank.test:8081"},
    "httpRoute": {"enabled": True, "parentRefs": [{"name": "public"}], "hostnames": ["chat.test"]},
}
EVERYTHING: Values = {
    "imagePullSecrets": [{"name": "registry"}],
    "image": {"repository": "registry.test/backscroll", "tag": "1.2.3"},
    "settings": {"max_context": 32768, "profile": "agent", "publish_from": 0.5, "retry_on_overfit": False},
    "httpRoute": {"enabled": True, "annotations": {"a": "b"}, "parentRefs": [{"name": "public"}]},
    "networkPolicy": {"extraEgress": [{"ports": [{"port": 4317}]}]},
    "monitoring": {"serviceMonitor": {"labels": {"release": "prometheus"}}},
    "rerank": {
        "server": {"args": ["--dtype=float16"], "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    },
    **{
        part: {
            "probes": {"readiness": {"initialDelaySeconds": 3}},
            "extraEnv": [
                {"name": "OTEL_SERVICE_NAME", "value": part},
                {"name": "OTHER_KEY", "valueFrom": {"secretKeyRef": {"name": "other", "key": "key"}}},
            ],
            "extraVolumes": [{"name": "tools", "configMap": {"name": "tools"}}],
            "extraVolumeMounts": [{"name": "tools", "mountPath": "/etc/tools"}],
            "podAnnotations": {"a": "b"},
            "nodeSelector": {"pool": "chat"},
            "tolerations": [{"key": "chat", "operator": "Exists"}],
            "affinity": {"nodeAffinity": {}},
            "priorityClassName": "high",
        }
        for part in ("gateway", "chunker", "embedder", "retriever", "assembler")
    },
}
MINIMAL: Values = {
    **DEFAULT,
    "nats": {"enabled": False},
    "bus": {"url": "nats://nats.test:4222"},
    "qdrant": {"enabled": False},
    "store": {"url": "http://qdrant.test:6333"},
    "toolbox": {"enabled": False},
    "networkPolicy": {"enabled": False},
}
PRODUCTION = values_file("values-production.yaml")
VALUE_SETS: dict[str, Values] = {
    "default": DEFAULT,
    "minimal": MINIMAL,
    "external": EXTERNAL,
    "production": PRODUCTION,
    "everything": laid_over(PRODUCTION, EVERYTHING),
}
