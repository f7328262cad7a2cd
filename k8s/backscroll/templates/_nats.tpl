{{- /* Made of shared/bus/permissions.py: python -m tests.support.chart_generated */}}
{{- define "backscroll.natsUsers" -}}
{
  "users": [
    {
      "user": "gateway",
      "password": "<< $NATS_GATEWAY_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.CONSUMER.INFO.*.*",
            "ev.v1.*.*.messages",
            "ev.v1.*.*.record.*",
            "rpc.v1.assemble",
            "rpc.v1.erase",
            "$JS.API.STREAM.MSG.GET.KV_erased",
            "$JS.API.STREAM.MSG.GET.RECORDS",
            "$JS.API.STREAM.MSG.DELETE.RECORDS",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.STREAM.MSG.DELETE.OBJ_claims",
            "$O.claims.C.>",
            "$O.claims.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims.*",
            "$JS.FC.OBJ_claims.>",
            "$O.claims-rpc.C.>",
            "$O.claims-rpc.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims-rpc.*",
            "$JS.FC.OBJ_claims-rpc.>",
            "$KV.tips.>",
            "$JS.API.DIRECT.GET.KV_tips.>",
            "$JS.API.CONSUMER.CREATE.KV_keys",
            "$JS.API.CONSUMER.CREATE.KV_keys.>",
            "$JS.API.CONSUMER.DELETE.KV_keys.*",
            "$JS.API.CONSUMER.MSG.NEXT.KV_keys.*",
            "$JS.API.CONSUMER.CREATE.RECORDS",
            "$JS.API.CONSUMER.CREATE.RECORDS.>",
            "$JS.API.CONSUMER.DELETE.RECORDS.*",
            "$JS.API.CONSUMER.MSG.NEXT.RECORDS.*"
          ]
        },
        "subscribe": {
          "allow": [
            "_INBOX.gateway.>"
          ]
        }
      }
    },
    {
      "user": "chunker",
      "password": "<< $NATS_CHUNKER_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.CONSUMER.INFO.*.*",
            "ev.v1.*.*.chunks",
            "dl.v1.*.*.i-chunker",
            "$JS.API.CONSUMER.MSG.NEXT.MESSAGES.chunker",
            "$JS.ACK.MESSAGES.chunker.>",
            "$JS.API.STREAM.MSG.GET.KV_erased",
            "$JS.API.STREAM.MSG.GET.MESSAGES",
            "$JS.API.STREAM.MSG.DELETE.MESSAGES",
            "$JS.API.STREAM.MSG.GET.DEADLETTERS",
            "$JS.API.STREAM.MSG.DELETE.DEADLETTERS",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.STREAM.MSG.DELETE.OBJ_claims",
            "$O.claims.C.>",
            "$O.claims.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims.*",
            "$JS.FC.OBJ_claims.>"
          ]
        },
        "subscribe": {
          "allow": [
            "_INBOX.chunker.>"
          ]
        }
      }
    },
    {
      "user": "embedder",
      "password": "<< $NATS_EMBEDDER_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.CONSUMER.INFO.*.*",
            "dl.v1.*.*.i-embedder",
            "$JS.API.CONSUMER.MSG.NEXT.CHUNKS.terms",
            "$JS.ACK.CHUNKS.terms.>",
            "$JS.API.CONSUMER.MSG.NEXT.CHUNKS.vectors",
            "$JS.ACK.CHUNKS.vectors.>",
            "$O.claims.C.>",
            "$O.claims.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims",
            "$JS.API.CONSUMER.CREATE.OBJ_claims.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims.*",
            "$JS.FC.OBJ_claims.>",
            "$JS.API.STREAM.MSG.GET.KV_erased",
            "$KV.erased.>",
            "$JS.API.STREAM.MSG.GET.MESSAGES",
            "$JS.API.STREAM.MSG.DELETE.MESSAGES",
            "$JS.API.STREAM.MSG.GET.CHUNKS",
            "$JS.API.STREAM.MSG.DELETE.CHUNKS",
            "$JS.API.STREAM.MSG.GET.RECORDS",
            "$JS.API.STREAM.MSG.DELETE.RECORDS",
            "$JS.API.STREAM.MSG.GET.DEADLETTERS",
            "$JS.API.STREAM.MSG.DELETE.DEADLETTERS",
            "$JS.API.STREAM.MSG.GET.OBJ_claims",
            "$JS.API.STREAM.MSG.DELETE.OBJ_claims",
            "$KV.tips.>",
            "$JS.API.CONSUMER.CREATE.KV_tips",
            "$JS.API.CONSUMER.CREATE.KV_tips.>",
            "$JS.API.CONSUMER.DELETE.KV_tips.*",
            "$JS.API.CONSUMER.MSG.NEXT.KV_tips.*"
          ]
        },
        "subscribe": {
          "allow": [
            "_INBOX.embedder.>",
            "rpc.v1.erase erase"
          ]
        },
        "allow_responses": {
          "max": 1,
          "expires": "10m"
        }
      }
    },
    {
      "user": "retriever",
      "password": "<< $NATS_RETRIEVER_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.CONSUMER.INFO.*.*",
            "$O.claims-rpc.C.>",
            "$O.claims-rpc.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims-rpc.*",
            "$JS.FC.OBJ_claims-rpc.>"
          ]
        },
        "subscribe": {
          "allow": [
            "_INBOX.retriever.>",
            "rpc.v1.retrieve retrieve",
            "rpc.v1.rerank rerank"
          ]
        },
        "allow_responses": {
          "max": 1,
          "expires": "10m"
        }
      }
    },
    {
      "user": "assembler",
      "password": "<< $NATS_ASSEMBLER_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.CONSUMER.INFO.*.*",
            "rpc.v1.retrieve",
            "rpc.v1.rerank",
            "$O.claims-rpc.C.>",
            "$O.claims-rpc.M.>",
            "$JS.API.STREAM.MSG.GET.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc",
            "$JS.API.CONSUMER.CREATE.OBJ_claims-rpc.>",
            "$JS.API.CONSUMER.DELETE.OBJ_claims-rpc.*",
            "$JS.FC.OBJ_claims-rpc.>"
          ]
        },
        "subscribe": {
          "allow": [
            "_INBOX.assembler.>",
            "rpc.v1.assemble assemble"
          ]
        },
        "allow_responses": {
          "max": 1,
          "expires": "10m"
        }
      }
    },
    {
      "user": "operator",
      "password": "<< $NATS_OPERATOR_PASSWORD >>",
      "permissions": {
        "publish": {
          "allow": [
            ">"
          ]
        },
        "subscribe": {
          "allow": [
            ">"
          ]
        }
      }
    }
  ]
}
{{- end -}}
