"""The MCP server: a store's memories as tools, resources and prompts of the Model Context Protocol.

Standard input and output are spoken by ``stdio`` itself, because importing the official SDK takes longer than the whole first search may.
HTTP, which opens a socket on the loopback interface and nowhere else, is the SDK's. Both serve one ``Service``.
"""
