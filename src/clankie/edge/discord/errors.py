"""What connecting to Discord raises. What Discord answers to one request is no error: it is an `Answer`.

ClankieError
└── DiscordError
    ├── TokenRefused      Discord does not know the bot's token
    ├── IntentMissing     the bot may not ask for Message Content
    ├── IdentifySpent     no session may be started now: ours or Discord's daily budget is used up
    └── DiscordLost       Discord cannot be reached, or ended the connection for good
"""

from clankie.runtime.errors import ClankieError


class DiscordError(ClankieError):
    """The edge is not connected to Discord, and will not be by waiting a little."""


class TokenRefused(DiscordError):
    """The token is none, or was reset."""


class IntentMissing(DiscordError):
    """The Message Content intent is off in the developer portal."""


class IdentifySpent(DiscordError):
    """A session start that is not made, so that the token is not reset by Discord."""


class DiscordLost(DiscordError):
    """What discord.py gives up at."""


def token_refused() -> TokenRefused:
    """The error of a token that Discord does not take."""
    return TokenRefused(
        "Discord does not know the bot's token",
        next_step="Take the current one from the developer portal (Bot → Reset Token) and set it again.",
    )


def intent_missing() -> IntentMissing:
    """The error of an application without the intent."""
    return IntentMissing(
        "the bot may not read messages: its Message Content intent is off",
        next_step="Turn it on in the developer portal (Bot → Privileged Gateway Intents), then start again.",
    )
