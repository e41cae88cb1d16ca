"""Message shapes of model providers and frameworks, one file each, read into `Message`.

They are the lowest floor of the adapters: vocabularies, decoders and pollers all read through them.
"""
