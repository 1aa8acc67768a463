"""complete.py SHARED SHORT: prints the JSON Schema (draft 2020-12) whose short form is in SHORT.

A text in place of a schema names a definition of SHORT or SHARED, and so does "extends": its schema gets all that the
definition says. An object with "properties" must have all of them and no others.
"""
import json
import sys


def definition(name):
    return complete(definitions[name])


def complete(short):
    if isinstance(short, str):
        return definition(short)
    base = definition(short["extends"]) if "extends" in short else {}
    schema = {**base, **{key: value for key, value in short.items() if key != "extends"}}
    if "properties" in schema:
        members = {name: complete(member) for name, member in schema["properties"].items()}
        members = {**base.get("properties", {}), **members}
        schema |= {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    for key in "items", "additionalProperties":
        if schema.get(key):
            schema[key] = complete(schema[key])
    for key in "anyOf", "prefixItems":
        if key in schema:
            schema[key] = [complete(one) for one in schema[key]]
    return schema


definitions, schema = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
definitions |= schema.pop("definitions", {})
print(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **complete(schema)}, indent=2))
