// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @title The interface of the exchange for traders of perpetual futures
/// @notice Quantities and prices are times 1e18; money is in base units of the margin token, which has 6 decimals.
interface IPerpsExchange {
    /// @dev `markPrice` is filled in when a product is read.
    struct Product {
        uint32 id;
        string symbol;
        string baseAsset;
        string quoteAsset;
        bool active;
        uint256 markPrice;
        uint256 increment;
        uint256 minQuantity;
        uint256 maxQuantity;
        uint256 makerFeeBps;
        uint256 takerFeeBps;
        uint256 initialWeightBps;
        uint256 maintenanceWeightBps;
    }

    struct Position {
        uint32 productId;
        bool isLong;
        uint256 quantity;
        uint256 entryPrice;
        uint256 margin;
        int256 unrealizedPnl;
        uint256 liquidationPrice;
    }

    event Deposited(address indexed account, uint256 amount);
    event Withdrawn(address indexed account, uint256 amount);
    event Opened(
        address indexed account, uint32 indexed productId, bool isLong, uint256 quantity, uint256 price, uint256 margin, uint256 fee
    );
    event Closed(
        address indexed account, uint32 indexed productId, uint256 quantity, uint256 price, int256 pnl, uint256 fee
    );
    event Liquidated(
        address indexed account, uint32 indexed productId, address indexed liquidator, uint256 price, uint256 reward
    );

    error InsufficientMargin(uint256 required, uint256 available);
    error LeverageTooHigh(uint256 leverage, uint256 maximum);
    /// @notice Leverage is a whole number from 1.
    error LeverageIsZero();
    error PriceMoved(uint256 price, uint256 limit);
    error BadQuantity(uint256 quantity);
    error ProductInactive(uint32 productId);
    error NoPosition(uint32 productId);
    error NotLiquidatable(address account, uint32 productId);
    /// @notice The account has a position on the other side of this product, which must be closed first.
    error OppositePosition(uint32 productId);
    /// @notice The house does not have enough funds for the possible gain of this position.
    error HouseFundsTooLow(uint256 wanted, uint256 available);

    /// @notice Adds to the caller's free margin; the exchange must be approved for it.
    function deposit(uint256 amount) external;

    /// @notice Pays out free margin; what positions have locked stays.
    function withdraw(uint256 amount) external;

    /// @notice Opens a position at the mark price, or adds to the one of that side; locks its worth divided by `leverage`.
    /// @param limitPrice The worst price accepted: the highest for a long, the lowest for a short.
    function open(uint32 productId, bool isLong, uint256 quantity, uint256 leverage, uint256 limitPrice) external;

    /// @notice Closes a position or part of it at the mark price; its margin and gain, less loss and fee, become free margin.
    /// @param limitPrice The worst price accepted: the lowest for a long, the highest for a short.
    function close(uint32 productId, uint256 quantity, uint256 limitPrice) external;

    /// @notice Liquidates a position of any account whose margin has fallen to the maintenance weight; the caller earns a reward.
    function liquidate(address account, uint32 productId) external;

    /// @notice The token that margin is held in.
    function marginToken() external view returns (address);

    /// @notice The margin that the account may withdraw or open positions with.
    function freeMargin(address account) external view returns (uint256);

    /// @notice All products with their mark prices, inactive ones too.
    function products() external view returns (Product[] memory);

    /// @notice The account's open positions.
    function positionsOf(address account) external view returns (Position[] memory);
}
