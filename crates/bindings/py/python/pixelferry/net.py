"""Pictures that many nodes compute and anyone can watch: the package ``pixelferry-net``, if it is installed."""

try:
    from pixelferry_net import *  # type: ignore[import-not-found] # noqa: F403
    from pixelferry_net import __all__ as __all__
except ImportError as error:
    raise ImportError(
        f"cannot import the package pixelferry-net, which pixelferry.net is ({error}). "
        "Install it from pixelferry's repository: pip install ./integrations/net/python"
    ) from error
