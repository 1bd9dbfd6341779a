"""Nodes as records and back: text is the content, metadata the metadata, the source document the parent, and the rest the value."""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.schema import BaseNode, Document, ImageDocument, ImageNode, IndexNode, MetadataMode, Node, TextNode

from indelible import Part, Put, Record

VECTOR_PART: Final = ""
_CLASSES: Final[dict[str, type[BaseNode]]] = {
    kind.class_name(): kind for kind in (TextNode, IndexNode, ImageNode, Node, Document, ImageDocument)
}
_ORDER: Final = "metadata_order"
_MEDIA: Final = ("text_resource", "image_resource", "audio_resource", "video_resource")


def put_of(node: BaseNode, ttl_ms: int | None = None) -> Put:
    """The write that keeps a node with its vector.

    Args:
        node: it is not changed.
        ttl_ms: milliseconds until it is no longer shown.

    Raises:
        ValueError: it has no embedding.
    """
    vector = tuple(node.get_embedding())
    fields = _dumped(node, exclude_defaults=True)
    metadata = fields.pop("metadata", {})
    fields.pop("id_", None)
    _take_text(fields)
    return Put(
        node.node_id,
        node.get_content(MetadataMode.NONE),
        value=fields | _order_of(metadata),
        metadata=metadata,
        parts=[Part(VECTOR_PART, "", vector)],
        parent=source_of(node),
        ttl_ms=ttl_ms,
    )


def node_of(record: Record) -> BaseNode:
    """The node that a record keeps; of a record that was no node, a text node of its content and metadata."""
    fields = dict(record.value) if isinstance(record.value, dict) else {}
    name = fields.pop("class_name", "")
    fields["metadata"] = _in_order(record.metadata, fields.pop(_ORDER, None))
    fields["id_"] = record.id if record.key is None else record.key
    _give_text(fields, record.content)
    node = _CLASSES.get(name, TextNode).from_dict(fields)
    if record.vectors:
        node.embedding = list(record.vectors[VECTOR_PART] if VECTOR_PART in record.vectors else next(iter(record.vectors.values())))
    return node


def node_of_fact(record: Record) -> BaseNode:
    """The node that a fact is shown as. Its id is the fact's: keys of facts are unique only within a scope."""
    node = node_of(record)
    node.id_ = record.id
    return node


def source_of(node: BaseNode) -> str | None:
    """The document that a node came from."""
    return node.ref_doc_id or None


def node_json(node: BaseNode) -> dict[str, Any]:
    """A whole node as JSON, for a store of documents."""
    fields = _dumped(node)
    return fields | _order_of(fields["metadata"])


def node_from_json(fields: dict[str, Any]) -> BaseNode:
    """The node of ``node_json``."""
    fields = dict(fields)
    name = fields.pop("class_name", "")
    fields["metadata"] = _in_order(fields.get("metadata", {}), fields.pop(_ORDER, None))
    return _CLASSES.get(name, TextNode).from_dict(fields)


def _dumped(node: BaseNode, *, exclude_defaults: bool = False) -> dict[str, Any]:
    fields = node.model_dump(mode="json", exclude_defaults=exclude_defaults)
    fields.pop("embedding", None)
    for name in _MEDIA:  # LlamaIndex leaves the data of media out of what it writes down, which would lose it
        resource = getattr(node, name, None)
        if resource is not None and resource.data is not None:
            fields[name]["data"] = resource.data.decode("ascii")  # it is base64 by then
    return fields


def _order_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """The order of metadata, if it is not that of JSON in the log: a node's hash and its text for a model depend on it."""
    names = list(metadata)
    return {} if names == sorted(names) else {_ORDER: names}


def _in_order(metadata: dict[str, Any], names: object) -> dict[str, Any]:
    if not isinstance(names, list):
        return metadata
    return {name: metadata[name] for name in dict.fromkeys([*names, *metadata]) if name in metadata}


def _take_text(fields: dict[str, Any]) -> None:
    fields.pop("text", None)
    resource = fields.get("text_resource")
    if resource is not None and resource.get("text") is not None:
        resource["text"] = ""


def _give_text(fields: dict[str, Any], text: str) -> None:
    if "text_resource" not in fields:
        fields["text"] = text
    elif fields["text_resource"] is not None and fields["text_resource"].get("text") is not None:
        fields["text_resource"] = {**fields["text_resource"], "text": text}
