"""What text looks like that talks to a model: orders, forged turns, forged calls of tools. Matched on lower-case text without accents.

Whatever repeats is bounded, or ends at the line: no text, however it repeats itself, takes more than a time that grows with its length.
"""

from __future__ import annotations

import re
from functools import cache

_PAIRS = "аa еe оo рp сc уy хx іi јj ѕs ԁd ɡg һh ӏl αa οo ρp υu ιi νv ɩi ‹< ›> 〈< 〉> ⟨< ⟩> ˂< ˃>"
LOOK_ALIKES = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})
"""Letters of other scripts, and brackets, that pass for those of English."""
_ORDERS = (
    r"(?:instruct\w*|prompts?|rules?|messages?|guidelines?|directions?|directives?|commands?|polic(?:y|ies)|context|training|everything)"
)
_EARLIER = (
    r"(?:all|any|every|the|your|you|my|these|those|of|previous|prior|preceding|above|earlier|former|existing|original|system|safety|"
    r"[\s:\"'*_-])+"
)
_CARRY = r"\b(?:send|forward|post|upload|email|exfiltrat\w*|leak|transmit|append|report)\b.{0,60}"

_SOURCES = {
    "tells a model to drop its instructions": (
        rf"\b(?:ignor\w+|disregard\w*|forget|overrid\w+|bypass\w*|discard|drop|stop following)\s{_EARLIER}{_ORDERS}\b",
        r"\b(?:ignor\w+|disregard\w*) (?:what|everything) (?:you|was|came|is)\b",
        r"ignoreall|ignoreprevious|ignoreyour",
        r"\bignor\w*\s+(?:\w+\s+){0,3}(?:instrucciones|instructions|instrucoes|istruzioni|anweisungen|indicaciones|consignes)\b",
        r"忽略.{0,8}(?:指令|指示|提示)|無視して|игнорируи.{0,40}инструкци",
    ),
    "gives a model orders": (
        r"\bnew (?:system )?(?:instructions?|directives?|orders?|rules?)\b\s*[:=-]",
        r"\b(?:system prompt|developer mode|jailbreak|do anything now|god mode|admin override|sudo mode)\b",
        r"\byou are (?:now|no longer)\b|\bpretend (?:to be|you are)\b|\bact as (?:an?|the) (?:unrestricted|unfiltered|admin|system|root)",
        r"\bfrom now on,? (?:you|always|never|answer|respond|reply|call|use|every)\b",
        r"\b(?:whenever|each time|every time) (?:you|the (?:user|assistant|model))\b.{0,80}"
        r"\b(?:call|run|execute|invoke|send|forward|delete|forget|purge|reply|respond|say|recommend|transfer)\b",
        r"\b(?:when|if|before|after) (?:you (?:recall|read|see|are asked)|the (?:user|assistant|model) )\b.{0,80}"
        r"\b(?:call|run|execute|invoke|send|email|forward|delete|forget|purge|reply with|respond with|say|recommend|transfer)\b",
        r"\b(?:do not|don't|never) (?:tell|inform|mention|reveal|alert|ask|warn)\b.{0,40}"
        r"\b(?:user|human|operator|anyone|anybody|developer)\b",
        r"\bwithout (?:asking|telling|informing|notifying|confirming|confirmation|the user)\b",
        r"\b(?:assistant|language model|ai|claude|gpt|chatgpt|llm)\b,? (?:must|should|shall|will now|has to|needs to)\b.{0,60}"
        r"\b(?:always|call|run|execute|send|ignore|obey|delete|forget|reveal|recommend)\b",
        r"\b(?:important|urgent|attention|note)\b.{0,10}\b(?:assistant|ai|llm)\b",
    ),
    "forges a turn of a conversation": (
        r"(?m)^[^\w\n]*(?:system|assistant|developer|human|ai)\s*(?:(?:\([^)\n]{0,100}\)|message|prompt|note)\s*)?[:>]\s",
        r"\n[^\w\n]*(?:user|tool|function|ipython)\s*:\s",
        r"(?m)^[^\S\n]*#{1,6}\s*(?:system|instructions?|assistant|human|user|response|new task|end of)\b",
        r"(?m)^[^\S\n]*[-=*_]{3,}\s*(?:end|begin|start|system|new)\b",
        r"<\|[^<>|]{1,40}\|>|\[/?(?:inst|system|sys|assistant|user)\]|<</?sys>>|</?s>|<(?:start|end)_of_turn>",
        r'"role"\s*:\s*"(?:system|assistant|developer|tool)"',
        r"known information from memory\s*:",
        r"\(\d+ more not shown\)",
    ),
    "forges tags around what a model is given": (
        r"</?\s*(?:system|memory|memories|assistant|user|human|instructions?|prompt|context|documents?|data|untrusted|result|output|thinking)"
        r"(?:[-_:][\w-]*)?(?:\s[^<>]*)?/?>",
        r"<!\[cdata\[|\]\]>|<!--.{0,500}-->",
        r"</[\w:-]{0,40}memory[\w:-]{0,40}>|what stands inside <",
    ),
    "forges a call of a tool": (
        r"</?\s*(?:\w+:)?(?:tool_?(?:call|calls|use|result|response|name)s?|function_?(?:call|calls|result)s?|invoke|parameter)\b[^<>]*>",
        r'"(?:tool_?calls?|function_?call|tool_?use|recipient_name|tool_name)"\s*:',
        r'"name"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters|input|args)"\s*:',
        r'"type"\s*:\s*"(?:tool_use|tool_result|function)"',
        r"\b(?:forget|edit|purge|prune|remember|recall|remember_fact|memory_\w+|functions?\.\w+|exec|eval|system)\(",
        r"(?m)^[^\S\n]*action\s*:.{0,500}^[^\S\n]*(?:action input|observation)\s*:",
    ),
    "carries something out": (
        r"!\[[^\]]{0,200}\]\(\s*(?:https?:)?//",
        rf"{_CARRY}\b(?:passwords?|credentials?|secrets?|api keys?|tokens?|conversations?|chat histor\w+|memories)\b.{{0,60}}(?:://|\bto\b|@)",
        rf"{_CARRY}\b(?:messages?|files?|prompts?|everything|data|memory)\b.{{0,60}}://",
        r"\b(?:javascript|vbscript)\s*:\s*\S|\bdata:text/html|\bfile://",
        r"\brm -rf\b|\bcurl\b.{0,80}\|\s*(?:ba|z)?sh\b|\bpowershell\b.{0,20}-enc|<script\b|\bon(?:error|load)\s*=",
    ),
    "reaches for another scope": (
        r"\b(?:agent_id|user_id|org_id|workspace_id)[\"']?\s*[:=]|\"(?:scope|namespace)\"\s*:",
        r"\bdrop table\b|\bdelete from\b|\bunion select\b|'\s*or\s*'?1'?\s*=\s*'?1",
        r"(?:\.\./){2,}|/etc/passwd|\bas (?:another|a different|the other) (?:user|agent|tenant)\b",
    ),
}


@cache
def instructions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Reasons with their patterns; a reason stands once per pattern. Compiled when first needed: who only reads need not wait for it."""
    return tuple((reason, re.compile(source, re.DOTALL)) for reason, sources in _SOURCES.items() for source in sources)
