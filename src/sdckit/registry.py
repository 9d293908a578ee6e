"""The documented path for methods from outside sdckit: the decorators, what options are made of, and
which columns two files have in common."""

from sdckit.data.common_columns import common_numeric as common_numeric
from sdckit.data.effects import Effects as Effects
from sdckit.data.roles import Role as Role
from sdckit.methods.options import KEYS as KEYS
from sdckit.methods.options import NUMERIC as NUMERIC
from sdckit.methods.options import SENSITIVE as SENSITIVE
from sdckit.methods.options import STRATA as STRATA
from sdckit.methods.options import Column as Column
from sdckit.methods.options import Columns as Columns
from sdckit.methods.options import OneOf as OneOf
from sdckit.methods.options import Option as Option
from sdckit.methods.options import Requires as Requires
from sdckit.methods.registry import find as find
from sdckit.methods.registry import protection as protection
from sdckit.methods.registry import risk as risk
from sdckit.methods.registry import specs as specs
from sdckit.methods.registry import utility as utility
from sdckit.methods.spec import Better as Better
from sdckit.methods.spec import Compares as Compares
from sdckit.methods.spec import Figure as Figure
from sdckit.methods.spec import Kind as Kind
from sdckit.methods.where import Where as Where
