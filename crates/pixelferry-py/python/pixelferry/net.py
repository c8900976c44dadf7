"""Pictures computed on many nodes and watched from anywhere: the package ``pixelferry-net``, where it is installed."""

try:
    from pixelferry_net import *  # type: ignore[import-not-found] # noqa: F403
    from pixelferry_net import __all__ as __all__
except ImportError as error:
    raise ImportError(
        f"pixelferry.net is the package pixelferry-net, which cannot be imported ({error}). "
        "Install it from pixelferry's repository: pip install ./integrations/net/python"
    ) from error
